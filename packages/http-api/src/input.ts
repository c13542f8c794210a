import { json, type Request, type RequestHandler } from "express";
import type { z } from "zod";

import { TOO_DEEP } from "./error-handler.ts";
import { isNestedTooDeep } from "./nesting.ts";
import { type Problem, problem, type ProblemItem } from "./problem.ts";

export type Input<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/** Checks what came in. Faults of a body are named by JSON pointer, those of a query, path or form by field. */
export function readInput<S extends z.ZodType>(
  schema: S,
  given: unknown,
  where: "body" | "query" | "path" | "headers" | "form" = "body",
): Input<z.output<S>> {
  const result = schema.safeParse(given);
  if (result.success) return { ok: true, value: result.data };
  const errors = result.error.issues.flatMap((issue) => itemsOf(issue, where === "body"));
  const count = errors.length === 1 ? "one field is" : `${errors.length} fields are`;
  return { ok: false, problem: problem("INVALID_REQUEST", `${count} wrong or missing in the ${where}`, { errors }) };
}

/** Unknown keys are one issue in zod, but each is a fault of its own. */
function itemsOf(issue: z.core.$ZodIssue, asPointer: boolean): ProblemItem[] {
  if (issue.code !== "unrecognized_keys") return [{ ...place(issue.path, asPointer), detail: issue.message }];
  return issue.keys.map((key) => ({ ...place([...issue.path, key], asPointer), detail: "there is no such field" }));
}

const place = (path: readonly PropertyKey[], asPointer: boolean): Pick<ProblemItem, "pointer" | "field"> =>
  asPointer ? { pointer: pointerOf(path) } : { field: path.map(String).join(".") };

/** RFC 6901. The whole body is the empty pointer. */
const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Reads JSON bodies up to a limit. Without a JSON content type the body stays undefined. */
export const jsonBodies = (limitBytes = 1_000_000): RequestHandler =>
  json({
    limit: limitBytes,
    strict: true,
    inflate: false,
    type: ["application/json", "application/*+json"],
    verify: (_request, _response, bytes) => {
      if (isNestedTooDeep(bytes)) throw Object.assign(new Error("nested too deep"), { type: TOO_DEEP });
    },
  });

/** Whether the request brings a multipart form. */
export const hasForm = (request: Request): boolean =>
  /^multipart\/form-data\b/i.test(request.get("content-type") ?? "");
