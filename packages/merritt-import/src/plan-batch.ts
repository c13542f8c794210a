/** What becomes of one old batch, once its jobs are planned. Pure. */
import {
  type BatchId,
  type BatchState,
  formatTimestamp,
  isEnded,
  type JobState,
  paths,
  readBatchState,
  type StatusReport,
} from "@sluice/queue-core";
import type { OldBatch } from "./old-tree.ts";
import { type FileToBring, findPayload, type OldFiles } from "./payload.ts";
import { type Cannot, importOp, type PlannedJob } from "./plan-job.ts";
import { isBatchOfMany, type JsonObject, jsonData, objectOf, submissionMode, textOf } from "./words.ts";

export interface PlannedBatch {
  readonly kind: "bring";
  readonly id: BatchId;
  readonly from: BatchState;
  readonly to: BatchState;
  readonly notes: readonly string[];
  readonly uuid: string | undefined;
  readonly submission: Buffer;
  readonly status: Buffer;
  /** Present from the moment in which its jobs are made. */
  readonly expansion: { readonly rows: number; readonly reports: number; readonly op: string } | null;
  readonly report: StatusReport | null;
  /** Its last job has ended and nobody has told the depositor. */
  readonly due: boolean;
  readonly file: FileToBring | null;
}

export interface BatchRules {
  readonly files: OldFiles | null;
  readonly nowMs: number;
  /** The jobs that are there are all that its manifest has rows for. */
  readonly assumeExpanded: boolean;
}

export const batchUuidIn = (batch: OldBatch): string | undefined =>
  textOf(objectOf(batch.nodes.get("submission")) ?? {}, "batchID") ?? batch.uuids[0];

export function planBatch(batch: OldBatch, jobs: readonly PlannedJob[], rules: BatchRules): PlannedBatch | Cannot {
  const { id, nodes } = batch;
  const cannot = (path: string, why: string): Cannot => ({ kind: "cannot", path, why });
  const submission = objectOf(nodes.get("submission"));
  if (submission === null) return cannot(paths.batchSubmission(id), "is missing or no JSON object");
  if (textOf(submission, "profile_name", "profile") === undefined) {
    return cannot(paths.batchSubmission(id), "names no profile");
  }
  const status = objectOf(nodes.get("status"));
  const from = readBatchState(typeof status?.["status"] === "string" ? status["status"] : "");
  if (status === null || from === null) return cannot(paths.batchStatus(id), "is missing or names no state of a batch");
  const type = textOf(submission, "type");
  if (from === "Processing" && jobs.length > 0 && isBatchOfMany(type) && !rules.assumeExpanded) {
    const why = `${jobs.length} jobs, and nobody says whether its manifest has more rows: see --assume-expanded`;
    return cannot(paths.batchStatus(id), why);
  }
  const to = stateFor(
    from,
    jobs.map((job) => job.to),
  );
  const starts = to === "Pending" || to === "Held";
  const uuid = batchUuidIn(batch);
  const payload = findPayload(submission, { batch: id, batchUuid: uuid }, rules.files);
  if (starts && payload.kind === "nowhere") return cannot(paths.batchSubmission(id), payload.why);
  const found = payload.kind === "nowhere" ? {} : { payload_url: payload.url, payload_name: payload.name };
  const reported = to === "Completed" || to === "Failed" || to === "UpdateReporting";
  const due = to === "Processing" && jobs.every((job) => isEnded(job.to));
  return {
    kind: "bring",
    id,
    from,
    to,
    notes: [
      ...(from === to ? [] : [`${from} becomes ${to}`]),
      ...(from === "Reporting" && due ? ["its report may have been sent before: it is sent again"] : []),
    ],
    uuid,
    submission: starts ? jsonData(forIntake(submission, uuid, found)) : (nodes.get("submission")?.data ?? jsonData({})),
    status:
      from === to
        ? (nodes.get("status")?.data ?? jsonData(status))
        : jsonData({ ...status, status: to, last_modified: formatTimestamp(rules.nowMs), message: "" }),
    expansion: starts ? null : { rows: jobs.length, reports: reported ? 1 : 0, op: importOp(batch.czxid) },
    report: reported && !nodes.has("status-report") ? reportOf(status, jobs) : null,
    due,
    file: starts && payload.kind === "file" ? payload.file : null,
  };
}

/**
 * The old fleet says Reporting as soon as all jobs are made, and can say Completed while some still run: what counts is
 * what its jobs say.
 */
function stateFor(from: BatchState, jobs: readonly JobState[]): BatchState {
  const live = jobs.some((state) => !isEnded(state));
  const begun = from === "Processing" || from === "Reporting";
  if (begun || from === "Pending" || from === "Held") {
    if (jobs.length > 0) return "Processing";
    return begun ? "Pending" : from;
  }
  if (from === "Completed" && live) return "Processing";
  if (from === "Completed" && jobs.includes("Failed")) return "Failed";
  return from === "UpdateReporting" && live ? "Failed" : from;
}

/** The names that our intake reads, beside those that are there. */
function forIntake(raw: JsonObject, uuid: string | undefined, found: JsonObject): JsonObject {
  const [ark, local] = [textOf(raw, "objectID"), textOf(raw, "localID")];
  return {
    ...raw,
    ...found,
    submission_mode: textOf(raw, "submission_mode", "submissionMode") ?? submissionMode(raw),
    ...(uuid === undefined ? {} : { batchID: uuid }),
    ...(ark === undefined ? {} : { primary_id: ark }),
    ...(local === undefined ? {} : { local_id: local }),
  };
}

function reportOf(status: JsonObject, jobs: readonly PlannedJob[]): StatusReport {
  const those = (state: JobState): string[] => jobs.filter(({ to }) => to === state).map(({ id }) => id);
  return {
    last_modified: textOf(status, "last_modified", "last_modification_date") ?? "",
    failed_jobs: those("Failed"),
    successful_jobs: those("Completed"),
  };
}
