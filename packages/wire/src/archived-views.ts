/** What the archive kept of a batch or a job, as the records that the queue had. Pure. */
import {
  type BatchView,
  type Bucket,
  bucketOf,
  type JobId,
  parseBatchId,
  parseJobId,
  readJobState,
  type RecordType,
  records,
} from "@sluice/queue-core";
import type { AnyJob } from "./views.ts";

/** What is asked of the inventory's record of a batch: whoever only speaks this language needs no database. */
export interface KeptBatch {
  readonly id: string;
  readonly outcome: unknown;
  readonly submission: unknown;
  readonly reports: readonly unknown[];
  readonly jobCounts: Readonly<Record<string, number>>;
}

export interface KeptJob {
  readonly id: string;
  readonly outcome: unknown;
  readonly configuration: unknown;
  readonly identifiers: unknown;
  readonly metadata: unknown;
  readonly inventory: unknown;
  readonly events: readonly unknown[];
}

/** null: it cannot be read. Job counts are by state there, by bucket here. */
export function batchOfArchive(batch: KeptBatch): BatchView | null {
  const id = parseBatchId(batch.id);
  const status = decoded(records.batchStatus, batch.outcome);
  const submission = decoded(records.submission, batch.submission);
  if (id === null || status === null || submission === null) return null;
  const counts = { "batch-processing": 0, "batch-failed": 0, "batch-completed": 0, "batch-deleted": 0 };
  let rows = 0;
  for (const [raw, jobs] of Object.entries(batch.jobCounts)) {
    const state = readJobState(raw);
    if (state !== null) counts[bucketOf(state)] += jobs;
    rows += jobs;
  }
  return {
    id,
    status,
    submission,
    expansion: { rows, created: rows, digest: "", reports: batch.reports.length, op: "" },
    report: decoded(records.statusReport, batch.reports.at(-1)),
    counts,
  };
}

export function jobOfArchive(job: KeptJob): AnyJob | null {
  const id = parseJobId(job.id);
  const status = decoded(records.jobStatus, job.outcome);
  const configuration = decoded(records.jobConfiguration, job.configuration);
  if (id === null || status === null || configuration === null) return null;
  return {
    id,
    batchId: configuration.batch_id ?? null,
    status,
    configuration,
    identifiers: decoded(records.identifiers, job.identifiers),
    metadata: decoded(records.metadata, job.metadata),
    inventory: decoded(records.inventory, job.inventory),
    priority: null,
    spaceNeeded: null,
    history: decoded(records.fleetJob, { attempts: 0, events: job.events }),
    lock: null,
  };
}

/**
 * A page of an archived batch's jobs, of one more than fit: that one says that it is not the last. Those that cannot be
 * read, or are in another bucket, are left out.
 */
export function pageOfArchive(
  jobs: readonly KeptJob[],
  limit: number,
  bucket: Bucket | undefined,
): { readonly items: readonly AnyJob[]; readonly next: JobId | null } {
  const shown = jobs.slice(0, limit);
  const items = shown.flatMap((job): AnyJob[] => {
    const view = jobOfArchive(job);
    return view === null || (bucket !== undefined && bucketOf(view.status.status) !== bucket) ? [] : [view];
  });
  return { items, next: jobs.length > limit ? parseJobId(shown.at(-1)?.id ?? "") : null };
}

/** The archive keeps JSON and asks nothing of it: what comes back is read with the same care as a node. */
function decoded<T>(record: RecordType<T>, value: unknown): T | null {
  const read = value === null || value === undefined ? null : record.decode(Buffer.from(JSON.stringify(value)));
  return read?.ok === true ? read.value : null;
}
