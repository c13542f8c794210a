import type { BatchPlace, JobId } from "@sluice/queue-core";

/** What is true of an object, whatever became of its job afterwards. */
export interface StoredObject {
  /** Null where the store does not say it in its manifest's URL. */
  readonly version: number | null;
  readonly recorded: boolean;
}

/** A job as a depositor knows it. */
export interface ReportedJob {
  readonly id: JobId;
  /** Its name outside, jid-UUID. */
  readonly name: string;
  readonly localIds: readonly string[];
  readonly primaryId: string | null;
  readonly file: string | null;
  readonly title: string | null;
  readonly payloadUrl: string;
  readonly state: string;
  /** Why it failed: "CODE: what happened". */
  readonly message: string;
  readonly stored: StoredObject | null;
}

/** How the jobs of a batch ended: each is in exactly one list. */
export interface BatchLists {
  readonly completed: readonly ReportedJob[];
  readonly failed: readonly ReportedJob[];
  readonly deleted: readonly ReportedJob[];
}

export interface ReportedBatch {
  readonly place: BatchPlace;
  /** Its name outside, bid-UUID. */
  readonly name: string;
  readonly profile: string;
  readonly submitter: string;
}

/** 1 for a batch's first report; 0 for that of one that never became jobs; "queued" for the news that it has. */
export type MailNumber = number | "queued";

/** What one mail is about. */
export type News =
  /** The batch has become jobs. */
  | { readonly kind: "queued"; readonly objects: number }
  /** The first report of a batch: everything. */
  | { readonly kind: "first"; readonly lists: BatchLists }
  /** A later one: what was mended since the last, and what still is not. */
  | { readonly kind: "update"; readonly lists: BatchLists }
  /** The batch never became jobs. */
  | { readonly kind: "unexpanded"; readonly message: string };

export interface PreviousReport {
  readonly failed: ReadonlySet<string>;
  readonly successful: ReadonlySet<string>;
}

/**
 * What an update report tells: jobs that succeeded or were deleted since the last report, and all that are failed still.
 * null = no job has changed its state since: nothing is sent.
 */
export function changesSince(previous: PreviousReport, now: BatchLists): BatchLists | null {
  const completed = now.completed.filter((job) => !previous.successful.has(job.id));
  const deleted = now.deleted.filter((job) => previous.failed.has(job.id));
  const failedAnew = now.failed.some((job) => !previous.failed.has(job.id));
  if (completed.length === 0 && deleted.length === 0 && !failedAnew) return null;
  return { completed, deleted, failed: now.failed };
}
