import type { ErrorCode } from "@sluice/queue-core";
import type { IoFault } from "@sluice/safe-io";

/** What became of one file, as far as the job is concerned. */
export type FileVerdict =
  | { readonly kind: "got"; readonly bytes: number }
  /** No more room: nobody's fault, and worth another try when there is. */
  | { readonly kind: "disk-full"; readonly message: string }
  /** It may work later. */
  | { readonly kind: "again"; readonly message: string; readonly delayMs?: number }
  /** It will not, until somebody mends something. */
  | { readonly kind: "never"; readonly code: ErrorCode; readonly message: string }
  /** We stopped ourselves. */
  | { readonly kind: "aborted" };

/** Faults of the content or of our own rules: no other try can help. */
const FINAL: Partial<Record<IoFault["code"], ErrorCode>> = {
  EGRESS_REFUSED: "URL_REFUSED",
  NAME_REFUSED: "NAME_REFUSED",
  LINK_REFUSED: "NAME_REFUSED",
  ALREADY_THERE: "NAME_REFUSED",
  DIGEST_MISMATCH: "DIGEST_MISMATCH",
  SIZE_MISMATCH: "SIZE_MISMATCH",
  ARCHIVE_CORRUPT: "CONTAINER_CORRUPT",
  ARCHIVE_REFUSED: "CONTAINER_REFUSED",
  ARCHIVE_TIMEOUT: "CONTAINER_TIMEOUT",
};

/** `hasSize`: the depositor said how large the file is, so more bytes than that are a mismatch, not merely too many. */
export function verdictOnFault(name: string, fault: IoFault, hasSize: boolean): FileVerdict {
  const message = `${JSON.stringify(name)}: ${fault.message}`;
  if (fault.code === "ABORTED") return { kind: "aborted" };
  if (fault.code === "NO_SPACE") return { kind: "disk-full", message };
  const code = fault.code === "TOO_LARGE" && hasSize ? "SIZE_MISMATCH" : FINAL[fault.code];
  if (code !== undefined) return { kind: "never", code, message };
  if (!fault.retryable) return { kind: "never", code: "DOWNLOAD_FAILED", message };
  return { kind: "again", message, ...(fault.retryAfterMs === undefined ? {} : { delayMs: fault.retryAfterMs }) };
}

/** What a container that was not unpacked means for the job; the fault's message names container and entry. */
export function verdictOnContainer(fault: IoFault): FileVerdict {
  const { code, message, retryable } = fault;
  if (code === "ABORTED") return { kind: "aborted" };
  if (code === "NO_SPACE") return { kind: "disk-full", message };
  if (retryable) return { kind: "again", message };
  return { kind: "never", code: code === "TOO_LARGE" ? "CONTAINER_REFUSED" : (FINAL[code] ?? "UNEXPECTED"), message };
}
