/** Batches and jobs as operators see them: with what can be done about them now. */
import type { ProfileStore } from "@sluice/profile-store";
import {
  type BatchPlace,
  batchRow,
  type BatchView,
  calledBackOf,
  isEnded,
  isFinal,
  isResumable,
  jobRow,
  type JobView,
  paths,
  placeOfJob,
  type Reader,
  records,
  resumeAt,
  resumeChoices,
  type WorkerProgress,
  workerOf,
} from "@sluice/queue-core";
import { type BatchDetail, FROM_QUEUE, type HoldView, type JobDetail, showBatch, showJob } from "@sluice/wire";
import type { Node, Session } from "@sluice/zookeeper";
import { callbackOf } from "./callback.ts";
import { holdView } from "./holds.ts";

/** The table's actions, and cleaning up what is over before its time. */
export const batchActions = (state: BatchView["status"]["status"]): string[] => [
  ...Object.keys(batchRow(state).operator),
  ...(state === "Completed" || state === "Deleted" ? ["clean-up"] : []),
];

export const jobActions = (state: JobView["status"]["status"]): string[] => [
  ...Object.keys(jobRow(state).operator),
  ...(isFinal(state) ? [] : ["priority"]),
];

/** null = no answer. */
export async function batchDetail(session: Session, batch: BatchView): Promise<BatchDetail | null> {
  const nodes = await nodesAt(session, [paths.collectionHold(batch.submission.profile_name)]);
  if (nodes === null) return null;
  return {
    ...showBatch(batch, FROM_QUEUE),
    notification: batch.submission.notification ?? null,
    hold: holdOf(nodes[0]),
    actions: batchActions(batch.status.status),
  };
}

export interface JobNews {
  readonly profiles: Pick<ProfileStore, "get">;
  readonly reader: Reader;
  readonly mails: (batch: BatchPlace, reports: number) => Promise<JobDetail["mails"]>;
}

export async function jobDetail(session: Session, job: JobView, news: JobNews): Promise<JobDetail | null> {
  const worker = workerOf(job);
  const nodes = await nodesAt(session, [
    paths.collectionHold(job.configuration.profile_name),
    paths.batchStatus(job.batchId),
    paths.fleetJob(job.id),
    paths.callback(job.id, job.status.retry_count),
    paths.expansion(job.batchId),
    ...(worker === null ? [] : [worker]),
  ]);
  if (nodes === null) return null;
  const [hold, batchStatus, history, callback, expanded, registration] = nodes;
  const { status, last_successful_status: last, message } = job.status;
  const batch = batchStatus == null ? null : records.batchStatus.decode(batchStatus.data);
  const batchAllows = batch?.ok === true && batchRow(batch.value.status).resumable;
  const canResume = status === "Failed" && batchAllows && (last !== null || isResumable(message));
  const shown = showJob(job, progressOf(registration, job.id), FROM_QUEUE, news.reader);
  const profile = news.profiles.get(job.configuration.profile_name);
  const expansion = expanded == null ? null : records.expansion.decode(expanded.data);
  return {
    ...shown,
    callback: callbackOf({ job: shown, profile, isQueued: callback != null, called: calledBackOf(job.history ?? {}) }),
    // A report is marked before it is counted.
    mails: await news.mails(placeOfJob(job), (expansion?.ok === true ? expansion.value.reports : 0) + 1),
    worker: job.lock?.owner ?? null,
    resume_at: canResume ? resumeAt(last) : null,
    resume_choices: canResume ? [...resumeChoices(last)] : [],
    not_before: notBefore(job, history),
    hold: holdOf(hold),
    // One without a history was never imported: every action is refused.
    actions: job.history === null ? [] : jobActions(status),
  };
}

async function nodesAt(session: Session, wanted: readonly string[]): Promise<readonly (Node | null)[] | null> {
  const answers = await session.readMany(wanted.map((get) => ({ get })));
  return answers.ok ? answers.value.map((answer) => (answer.kind === "node" ? answer.node : null)) : null;
}

function holdOf(node: Node | null | undefined): HoldView | null {
  const hold = node == null ? null : records.hold.decode(node.data);
  if (hold === null) return null;
  return hold.ok ? holdView(hold.value) : { by: "", since: null, why: "", until: null };
}

function progressOf(node: Node | null | undefined, id: string): WorkerProgress | null {
  const worker = node == null ? null : records.worker.decode(node.data);
  return worker?.ok === true ? (worker.value.progress?.[id] ?? null) : null;
}

/** Counted from the node's last change, by the server's clock. */
function notBefore({ status, history }: JobView, node: Node | null | undefined): string | null {
  if (history?.not_before === undefined || node == null || isEnded(status.status)) return null;
  return new Date(node.stat.mtime + history.not_before).toISOString();
}
