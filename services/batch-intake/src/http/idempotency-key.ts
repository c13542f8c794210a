import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { FieldProblem } from "../submission/field-problem.ts";

const HEADER = "Idempotency-Key";

/** With or without the quotes that the draft standard wants around it. */
const KeySchema = z
  .string()
  .transform((raw) => raw.replace(/^"(.*)"$/, "$1"))
  .pipe(z.string().regex(/^[\x21-\x7e]{1,255}$/, "expected one of 1 to 255 printable ASCII characters"));

export const IdempotencyHeaders = z.object({
  [HEADER]: KeySchema.optional().describe(
    "the caller's own name for this submission: the same again makes no second batch",
  ),
});

/** The caller's key; null when there is none. */
export function idempotencyKey(
  req: Pick<IncomingMessage, "headers">,
): { readonly ok: true; readonly key: string | null } | { readonly ok: false; readonly problem: FieldProblem } {
  const raw = req.headers[HEADER.toLowerCase()];
  if (raw === undefined) return { ok: true, key: null };
  const key = KeySchema.safeParse(raw);
  if (key.success) return { ok: true, key: key.data };
  return { ok: false, problem: { field: HEADER, detail: key.error.issues[0]?.message ?? "is wrong" } };
}
