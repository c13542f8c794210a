import type { Fault } from "./port.ts";

/**
 * A server drops the connection, and with it everything in flight, when a request reaches 1 MiB (jute.maxbuffer);
 * half of that keeps the servers' log and everyone else's latency sane, and bounds a node's data too.
 */
export const MAX_REQUEST_BYTES = 512 * 1024;

/** The request is not sent and the connection is kept. */
export function tooLarge(bytes: number): Fault | null {
  if (bytes <= MAX_REQUEST_BYTES) return null;
  return { ok: false, code: "NOT_SENT", detail: `request of ${bytes} bytes, the limit is ${MAX_REQUEST_BYTES}` };
}
