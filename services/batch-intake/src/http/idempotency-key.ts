import type { IncomingMessage } from "node:http";
import type { FieldProblem } from "../submission/field-problem.ts";

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The caller's key, with or without the quotes that the draft standard wants around it; null when there is none. */
export function idempotencyKey(
  req: Pick<IncomingMessage, "headers">,
): { readonly ok: true; readonly key: string | null } | { readonly ok: false; readonly problem: FieldProblem } {
  const raw = req.headers["idempotency-key"];
  if (raw === undefined) return { ok: true, key: null };
  const key = typeof raw === "string" ? raw.replace(/^"(.*)"$/, "$1") : "";
  if (KEY.test(key)) return { ok: true, key };
  const detail = "expected one Idempotency-Key of 1 to 255 printable ASCII characters";
  return { ok: false, problem: { field: "Idempotency-Key", detail } };
}
