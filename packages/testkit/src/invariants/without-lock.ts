/** What may be written to a job or a batch without holding its lock, and by whom. */
import { type FleetJob, isFinal, type JobEvent, jobRow, knownEvent } from "@sluice/queue-core";
import { historyOf, isTailOf } from "./history.ts";
import { goesWithBatch, moveOf } from "./job-move-rules.ts";
import { isAudited } from "./operators.ts";
import { only } from "./parts.ts";
import type { BatchChange, JobChange } from "./views.ts";

export function mayWriteJob(change: JobChange): boolean {
  const { before, after, author, batchBefore } = change;
  if (isAudited(change)) return true;
  if (author.role === "operator") return false;
  if (!before.exists) return batchBefore?.lock?.owner === author.session;
  if (author.role === "reporter" && (!after.exists || takesAlong(change) || sweepsEntry(change))) return true;
  return removesGhost(change) || tidiesHistory(change) || notesCallback(change);
}

/** A deleted batch takes its jobs with it. */
const takesAlong = (change: JobChange): boolean =>
  moveOf(change) !== null &&
  goesWithBatch(change, change.after.status?.status ?? "Pending") &&
  only(change.wrote, "status", "entry", "bucket", "history", "lock");

/** An ended job leaves its queue; its data stays. */
const sweepsEntry = ({ after, wrote }: JobChange): boolean =>
  only(wrote, "entry") && after.entries.length === 0 && after.status !== null && isFinal(after.status.status);

/** An entry that contradicts the status is a leftover, and no loss. */
const removesGhost = ({ before, after, wrote }: JobChange): boolean =>
  only(wrote, "entry") &&
  after.entries.length < before.entries.length &&
  after.entries.some(({ state }) => state === after.status?.status);

/** The stage that a job waits for says why it waits, or takes back the attempt of a claim that it lost. */
function tidiesHistory(change: JobChange): boolean {
  const { after, author } = change;
  if (after.status === null || jobRow(after.status.status).owner !== author.role) return false;
  const [was, is] = [historyOf(change.before), historyOf(after)];
  if (was === null || is === null || !touchesHistoryAlone(change)) return false;
  if (tellsNothingElse(is.events, was.events)) return counts(is) === counts(was);
  return was.claimed !== undefined && counts(is) === counts(takenBack(was)) && tellsOfHandBack(is.events, was.events);
}

/** One event more: the hand-back of the attempt. */
const tellsOfHandBack = (now: readonly JobEvent[], before: readonly JobEvent[]): boolean => {
  const last = now.at(-1);
  return last !== undefined && knownEvent(last)?.kind === "handback" && isTailOf(now.slice(0, -1), before);
};

/** What became of the callback about a failure is noted with the failed job. */
function notesCallback(change: JobChange): boolean {
  const [was, is] = [historyOf(change.before), historyOf(change.after)];
  if (change.author.role !== "notifier" || change.after.status?.status !== "Failed") return false;
  return was !== null && is !== null && rewritesHistory(change) && counts(is) === counts(was);
}

/** Alone, and of a job that nobody has in hand; nothing that happened is told otherwise. */
const rewritesHistory = (change: JobChange): boolean =>
  touchesHistoryAlone(change) &&
  tellsNothingElse(historyOf(change.after)?.events ?? [], historyOf(change.before)?.events ?? []);

const touchesHistoryAlone = ({ before, wrote }: JobChange): boolean => only(wrote, "history") && before.lock === null;
const tellsNothingElse = isTailOf;

/** The reason and the delay are for people. */
const counts = ({ attempts, claimed, files }: FleetJob): string => JSON.stringify([attempts, claimed, files]);

function takenBack({ claimed: _, ...job }: FleetJob): FleetJob {
  return { ...job, attempts: Math.max(0, job.attempts - 1) };
}

export function mayWriteBatch(change: BatchChange): boolean {
  const { before, after, author } = change;
  if (!before.exists || isAudited(change)) return true;
  if (author.role !== "reporter") return false;
  return !after.exists || opensReport(change) || marksUnexpanded(change) || sweepsBatchEntry(change);
}

/** The gate needs no lock: that no job is left is proven in the transaction itself. */
function opensReport({ before, after, wrote }: BatchChange): boolean {
  if (before.status?.status !== "Processing" || after.status?.status !== "Reporting") return false;
  return only(wrote, "status", "entry", "bucket", "cursor") && cursor(before) === cursor(after);
}

/** All but the name of the last write. */
const cursor = ({ expansion }: BatchChange["after"]): string =>
  JSON.stringify([expansion?.rows, expansion?.created, expansion?.digest, expansion?.reports]);

/** A batch that never became jobs gets its one report where it stands. */
const marksUnexpanded = ({ before, after, wrote }: BatchChange): boolean =>
  only(wrote, "report") && before.report === null && after.made === 0 && after.status?.status === "Failed";

const sweepsBatchEntry = ({ after, wrote }: BatchChange): boolean =>
  only(wrote, "entry") &&
  after.entries.length === 0 &&
  (after.status?.status === "Completed" || after.status?.status === "Deleted");
