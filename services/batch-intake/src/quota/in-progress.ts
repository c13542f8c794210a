/** What a collection has in progress, summed over its batches that have not ended. Pure. */
import type { BatchState, BatchSummary, Submission } from "@sluice/queue-core";

export interface InProgress {
  readonly batches: number;
  /** Rows that will become jobs included. */
  readonly jobs: number;
  /** Jobs that are in the queue now. */
  readonly queued: number;
  /** Uploaded or announced; what a manifest names is not known here. */
  readonly bytes: number;
}

export const NOTHING: InProgress = { batches: 0, jobs: 0, queued: 0, bytes: 0 };

export const OPEN_STATES = ["Pending", "Held", "Processing"] as const satisfies readonly BatchState[];

export const plus = (a: InProgress, b: InProgress): InProgress => ({
  batches: a.batches + b.batches,
  jobs: a.jobs + b.jobs,
  queued: a.queued + b.queued,
  bytes: a.bytes + b.bytes,
});

/** By profile. */
export function sumOf(batches: readonly BatchSummary[]): ReadonlyMap<string, InProgress> {
  const sums = new Map<string, InProgress>();
  for (const batch of batches) {
    const { profile_name: profile } = batch.submission;
    sums.set(profile, plus(sums.get(profile) ?? NOTHING, ofBatch(batch)));
  }
  return sums;
}

function ofBatch({ submission, expansion, counts }: BatchSummary): InProgress {
  const queued = counts["batch-processing"];
  // Nobody has counted the rows of a batch that was not started.
  const toCome = expansion === null ? 1 : Math.max(0, expansion.rows - expansion.created);
  return { batches: 1, jobs: queued + toCome, queued, bytes: bytesOf(submission) };
}

/** Several uploads each have their size; a single payload has the batch's. */
export function bytesOf(submission: Submission): number {
  const uploads: unknown = submission["uploads"];
  if (Array.isArray(uploads)) return uploads.reduce((sum: number, upload: unknown) => sum + sizeIn(upload, "size"), 0);
  return sizeIn(submission, "payload_size");
}

function sizeIn(value: unknown, name: string): number {
  if (typeof value !== "object" || value === null) return 0;
  const size = Number((value as Readonly<Record<string, unknown>>)[name] ?? 0);
  return Number.isFinite(size) && size > 0 ? size : 0;
}
