/** Records of the queue as callers see them. Pure. */
import {
  type BatchSummary as ReadBatch,
  type BatchView,
  codeOfMessage,
  type JobEvent,
  type JobStatus,
  knownEvent,
  type JobView,
  parseTimestamp,
  type Reader,
  remedyFor,
  type StatusReport,
  type Submission,
  type WorkerProgress,
} from "@sluice/queue-core";
import { displayUrl } from "@sluice/safe-io";
import type { Batch, BatchSummary, Job, JobSummary } from "./deposits.ts";

const FAILED_SHOWN_MAX = 100;

export function showBatchSummary({ id, status, submission, expansion, counts }: ReadBatch): BatchSummary {
  return {
    id: submission.batchID ?? id,
    bid: id,
    status: status.status,
    message: status.message,
    error_code: codeOfMessage(status.message),
    last_modified: rfc3339(status.last_modified),
    submitted: rfc3339(textOf(submission, "submission_date")),
    profile: submission.profile_name,
    submitter: submission.submitter,
    submission_mode: submission.submission_mode,
    type: submission.type === "" ? null : submission.type,
    payload_url: shownUrl(submission.payload_url),
    payload_name: textOf(submission, "payload_name"),
    title: submission.erc_what ?? null,
    creator: submission.erc_who ?? null,
    date: submission.erc_when ?? null,
    primary_id: textOf(submission, "primary_id"),
    local_id: [submission["local_id"] ?? []].flat().map(String),
    rows: expansion?.rows ?? null,
    created: expansion?.created ?? 0,
    counts: {
      processing: counts["batch-processing"],
      failed: counts["batch-failed"],
      completed: counts["batch-completed"],
      deleted: counts["batch-deleted"],
    },
  };
}

/** Where a view comes from. */
export type Origin = Pick<Batch, "archived" | "archived_at">;
export const FROM_QUEUE: Origin = { archived: false, archived_at: null };
export const fromArchive = (since: string | null): Origin => ({ archived: true, archived_at: rfc3339(since) });

export const showBatch = (batch: BatchView, origin: Origin): Batch => ({
  ...showBatchSummary(batch),
  report: batch.report === null ? null : showReport(batch.report),
  ...origin,
});

const showReport = ({ last_modified, failed_jobs, successful_jobs, counts }: StatusReport): Batch["report"] => ({
  last_modified: rfc3339(last_modified),
  successful: counts?.successful ?? successful_jobs.length,
  failed: counts?.failed ?? failed_jobs.length,
  failed_jobs: failed_jobs.slice(0, FAILED_SHOWN_MAX),
});

/** A job of the queue, or of the archive, which keeps less. */
export type AnyJob = Omit<JobView, "batchId" | "priority" | "spaceNeeded"> & {
  readonly batchId: string | null;
  readonly priority: number | null;
  readonly spaceNeeded: number | null;
};

export function showJobSummary(job: AnyJob, reader: Reader): JobSummary {
  const { id, batchId, status, configuration, identifiers, metadata, history } = job;
  return {
    id: configuration.jobID ?? id,
    jid: id,
    bid: batchId,
    status: status.status,
    message: status.message,
    error_code: codeOfMessage(status.message),
    remedy: remedyFor(status.message, reader),
    last_modified: rfc3339(status.last_modified),
    last_successful_status: status.last_successful_status,
    retry_count: status.retry_count,
    attempts: history?.attempts ?? 0,
    waiting_for: history?.why ?? null,
    working_on_it: job.lock?.stage ?? null,
    priority: job.priority,
    space_needed: job.spaceNeeded,
    profile: configuration.profile_name,
    submitter: configuration.submitter,
    type: configuration.payload_type,
    payload_url: shownUrl(configuration.payload_url),
    payload_name: configuration.payload_name ?? null,
    primary_id: identifiers?.primary_id ?? null,
    local_id: identifiers?.local_id ?? [],
    title: metadata?.erc_what ?? null,
    creator: metadata?.erc_who ?? null,
    date: metadata?.erc_when ?? null,
  };
}

export const showJob = (job: AnyJob, progress: WorkerProgress | null, origin: Origin, reader: Reader): Job => ({
  ...showJobSummary(job, reader),
  progress:
    progress === null
      ? null
      : { done_bytes: progress.doneBytes, total_bytes: progress.totalBytes, note: progress.note ?? null },
  events: withWholeMessage((job.history?.events ?? []).flatMap(showEvent), job.status),
  ...origin,
});

/** What only a newer version understands is not shown by this one. */
function showEvent(raw: JobEvent): readonly Job["events"][number][] {
  const event = knownEvent(raw);
  if (event === null) return [];
  const { atSeconds, kind, state, by, detail, seconds } = event;
  return [
    {
      at: new Date(atSeconds * 1000).toISOString(),
      kind,
      state,
      by,
      detail: detail === undefined || detail === "" ? null : detail,
      seconds: seconds === undefined ? null : Number(seconds),
    },
  ];
}

const FAILURES: ReadonlySet<string> = new Set(["fail", "quarantine", "op-fail"]);

/** The history keeps little of what was said; of the failure that a job stands at, its status has all. */
function withWholeMessage(events: Job["events"], { status, message }: JobStatus): Job["events"] {
  const last = events.at(-1);
  if (status !== "Failed" || message === "" || last === undefined || !FAILURES.has(last.kind)) return events;
  return events.with(-1, { ...last, detail: message });
}

/** Signed query strings are stored but never shown; `upload:NAME` has none. */
const shownUrl = (url: string): string => (url === "" || url.startsWith("upload:") ? url : displayUrl(url));

function textOf(submission: Submission, key: string): string | null {
  const value = submission[key];
  return typeof value === "string" ? value : null;
}

export const submittedAtMs = (submission: Submission): number | null =>
  parseTimestamp(textOf(submission, "submission_date") ?? "");

/** CDL's timestamps as RFC 3339; null where there is none that can be read. */
export function rfc3339(timestamp: string | null): string | null {
  const ms = timestamp === null ? null : parseTimestamp(timestamp);
  return ms === null ? null : new Date(ms).toISOString();
}
