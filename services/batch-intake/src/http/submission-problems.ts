import type { ProblemCode } from "@sluice/http-api";

/** What can be said against a submission, besides what is wrong with the request itself. */
export const SUBMISSION_PROBLEMS: readonly ProblemCode[] = [
  "FORBIDDEN",
  "DIGEST_MISMATCH",
  "IDEMPOTENCY_KEY_REUSED",
  "TOO_MANY_REQUESTS",
  "UNAVAILABLE",
  "INSUFFICIENT_STORAGE",
];
