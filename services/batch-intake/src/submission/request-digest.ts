import { createHash } from "node:crypto";
import type { Submission } from "@sluice/queue-core";

/**
 * SHA-256 of what was asked for: under one key, the same digest is a repetition and any other is a mistake of the
 * caller. When it was asked for, what they are called, and how the answer is to look, are not part of it.
 */
export function requestDigest(submission: Submission, uploadSha256: string | null): string {
  const asked = Object.entries(submission).filter(([key, value]) => value !== undefined && !NOT_ASKED.has(key));
  asked.sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify({ asked, uploadSha256 })).digest("hex");
}

const NOT_ASKED: ReadonlySet<string> = new Set([
  "batchID",
  "request_digest",
  "submission_date",
  "submitted_by",
  "response_type",
]);
