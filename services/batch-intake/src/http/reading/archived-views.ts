/** What the archive kept of a batch or a job, as the records that the queue had. */
import type { ArchivedBatch, ArchivedJob } from "@sluice/inventory";
import {
  type BatchView,
  bucketOf,
  parseBatchId,
  parseJobId,
  readJobState,
  type RecordType,
  records,
} from "@sluice/queue-core";
import type { AnyJob } from "@sluice/wire";

/** null: it cannot be read. Job counts are by state there, by bucket here. */
export function batchOfArchive(batch: ArchivedBatch): BatchView | null {
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

export function jobOfArchive(job: ArchivedJob): AnyJob | null {
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

/** The archive keeps JSON and asks nothing of it: what comes back is read with the same care as a node. */
function decoded<T>(record: RecordType<T>, value: unknown): T | null {
  const read = value === null || value === undefined ? null : record.decode(Buffer.from(JSON.stringify(value)));
  return read?.ok === true ? read.value : null;
}
