import {
  type BatchId,
  type Bucket,
  type JobId,
  type JobView,
  listBucket,
  readJobs,
  storedVersion,
  type Viewed,
} from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import type { BatchLists, ReportedJob } from "./report.ts";

/** At some kilobytes each, far below what a server answers at once. */
const JOBS_PER_READ = 100;

/** All jobs of a batch that has ended, by how they ended; null = no answer. */
export async function readBatchLists(session: Session, id: BatchId): Promise<BatchLists | null> {
  const completed = await readBucket(session, id, "batch-completed");
  const failed = await readBucket(session, id, "batch-failed");
  const deleted = await readBucket(session, id, "batch-deleted");
  return completed === null || failed === null || deleted === null ? null : { completed, failed, deleted };
}

async function readBucket(session: Session, id: BatchId, bucket: Bucket): Promise<readonly ReportedJob[] | null> {
  const ids = await listBucket(session, id, bucket);
  if (ids === null) return null;
  const jobs: ReportedJob[] = [];
  for (let i = 0; i < ids.length; i += JOBS_PER_READ) {
    const some = ids.slice(i, i + JOBS_PER_READ);
    const views = await readJobs(session, some);
    if (views === null) return null;
    for (const [k, job] of some.entries()) jobs.push(reportedJob(job, views[k]));
  }
  return jobs;
}

/** A job whose nodes cannot be read leaves a gap in the mail, never a batch without a report. */
function reportedJob(id: JobId, view: Viewed<JobView> | undefined): ReportedJob {
  if (view?.kind !== "found") return { ...UNREADABLE, id, name: id };
  const { configuration, identifiers, metadata, status, inventory } = view.value;
  return {
    id,
    name: configuration.jobID ?? id,
    localIds: identifiers?.local_id ?? [],
    primaryId: identifiers?.primary_id ?? null,
    file: configuration.payload_name ?? null,
    title: metadata?.erc_what ?? null,
    payloadUrl: configuration.payload_url,
    state: status.status,
    message: status.message,
    stored: inventory === null ? null : { version: storedVersion(inventory), recorded: isRecorded(status) },
  };
}

/** Only the move out of Recording says so; an operator may have sent the job back since, to be stored again. */
const isRecorded = ({ status, last_successful_status: last }: JobView["status"]): boolean =>
  status === "Completed" || last === "Recording" || last === "Notify";

const UNREADABLE = {
  localIds: [],
  primaryId: null,
  file: null,
  title: null,
  payloadUrl: "",
  state: "",
  message: "",
  stored: null,
};
