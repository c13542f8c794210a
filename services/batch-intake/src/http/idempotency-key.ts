import type { Request } from "express";
import type { Problem } from "./problem.ts";

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The caller's key, with or without the quotes that the draft standard wants around it; null when there is none. */
export function idempotencyKey(
  req: Pick<Request, "headers">,
): { readonly ok: true; readonly key: string | null } | { readonly ok: false; readonly problem: Problem } {
  const raw = req.headers["idempotency-key"];
  if (raw === undefined) return { ok: true, key: null };
  const key = typeof raw === "string" ? raw.replace(/^"(.*)"$/, "$1") : "";
  if (KEY.test(key)) return { ok: true, key };
  const detail = "expected one Idempotency-Key of 1 to 255 printable ASCII characters";
  const errors = [{ field: "Idempotency-Key", detail }];
  return { ok: false, problem: { code: "INVALID_FIELDS", detail, errors } };
}
