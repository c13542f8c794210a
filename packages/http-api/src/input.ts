import type { Request } from "express";
import type { z } from "zod";

import { type Problem, problem, type ProblemItem } from "./problem.ts";

export type Input<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/** A person reads no more; an answer must not be larger than what was sent. */
export const ERRORS_MAX = 100;

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
  const detail = `${count} wrong or missing in the ${where}`;
  // Whoever sends a longer list than is read sends too much, however right each of its items is.
  const code = result.error.issues.some(isTooLong) ? "PAYLOAD_TOO_LARGE" : "INVALID_REQUEST";
  return { ok: false, problem: problem(code, detail, { errors: errors.slice(0, ERRORS_MAX) }) };
}

/** A bound of a few items is a matter of form, not of size. */
const SIZED_FROM = 100;
const isTooLong = (issue: z.core.$ZodIssue): boolean =>
  issue.code === "too_big" && issue.origin === "array" && issue.maximum >= SIZED_FROM;

/** Unknown keys are one issue in zod, but each is a fault of its own. */
function itemsOf(issue: z.core.$ZodIssue, asPointer: boolean): ProblemItem[] {
  if (issue.code !== "unrecognized_keys") return [{ ...place(issue.path, asPointer), detail: detailOf(issue) }];
  return issue.keys.map((key) => ({ ...place([...issue.path, key], asPointer), detail: "there is no such field" }));
}

/** zod's own words for what is missing speak of types. */
const detailOf = (issue: z.core.$ZodIssue): string =>
  issue.message.endsWith("received undefined") ? "is required" : issue.message;

const place = (path: readonly PropertyKey[], asPointer: boolean): Pick<ProblemItem, "pointer" | "field"> =>
  asPointer ? { pointer: pointerOf(path) } : { field: path.map(String).join(".") };

/** RFC 6901. The whole body is the empty pointer. */
const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Whether the request brings a multipart form. */
export const hasForm = (request: Request): boolean =>
  /^multipart\/form-data\b/i.test(request.get("content-type") ?? "");
