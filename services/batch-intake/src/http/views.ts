/** What callers see of batches and jobs. Pure. */
import { type BatchView, type JobView, parseTimestamp, type Submission } from "@sluice/queue-core";
import { displayUrl } from "@sluice/safe-io";
import { uploadName } from "../payload-types.ts";

export function showBatch({ id, status, submission, expansion, counts }: BatchView) {
  return {
    id: submission.batchID ?? id,
    bid: id,
    status: status.status,
    message: status.message,
    last_modified: rfc3339(status.last_modified),
    submitted: rfc3339(textOf(submission, "submission_date")),
    profile: submission.profile_name,
    submitter: submission.submitter,
    type: submission.type === "" ? null : submission.type,
    payload_url: shownUrl(submission.payload_url),
    payload_name: textOf(submission, "payload_name"),
    title: submission.erc_what ?? null,
    creator: submission.erc_who ?? null,
    date: submission.erc_when ?? null,
    primary_id: textOf(submission, "primary_id"),
    local_id: submission["local_id"] ?? [],
    /** null until the manifest has been validated. */
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

export function showJob(view: JobView) {
  const { id, batchId, status, configuration, identifiers, metadata, history } = view;
  return {
    id: configuration.jobID ?? id,
    jid: id,
    bid: batchId,
    status: status.status,
    message: status.message,
    last_modified: rfc3339(status.last_modified),
    last_successful_status: status.last_successful_status,
    retry_count: status.retry_count,
    attempts: history?.attempts ?? 0,
    waiting_for: history?.why ?? null,
    priority: view.priority,
    space_needed: view.spaceNeeded,
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
    working_on_it: view.lock?.stage ?? null,
  };
}

/** Signed query strings are stored but never shown. */
const shownUrl = (url: string): string => (uploadName(url) === null && url !== "" ? displayUrl(url) : url);

function textOf(submission: Submission, key: string): string | null {
  const value = submission[key];
  return typeof value === "string" ? value : null;
}

function rfc3339(timestamp: string | null): string | null {
  const ms = timestamp === null ? null : parseTimestamp(timestamp);
  return ms === null ? null : new Date(ms).toISOString();
}
