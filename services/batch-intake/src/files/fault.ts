import type { ErrorCode } from "@sluice/queue-core";
import type { IoFault, Outcome } from "@sluice/safe-io";
import type { PayloadFault } from "../ports.ts";

/** What each fault at the edge is called in the queue; what is not here is the payload that could not be had. */
const CODES: Readonly<Partial<Record<IoFault["code"], ErrorCode>>> = {
  EGRESS_REFUSED: "URL_REFUSED",
  DIGEST_MISMATCH: "PAYLOAD_DIGEST_MISMATCH",
  NAME_REFUSED: "NAME_REFUSED",
  TOO_LARGE: "MANIFEST_CORRUPT",
};

/** Our own side stopped or broke: the payload is not to blame. */
const OURS: ReadonlySet<string> = new Set(["ABORTED", "IO_ERROR"]);

export function payloadFault(fault: IoFault, otherwise: ErrorCode): PayloadFault {
  const { code, message, retryable, retryAfterMs } = fault;
  return {
    ok: false,
    code: CODES[code] ?? otherwise,
    message,
    remedy: code === "NO_SPACE" ? "wait" : retryable || OURS.has(code) ? "retry" : "none",
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

export const success = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const failure = (error: IoFault): Outcome<never> => ({ ok: false, error });
