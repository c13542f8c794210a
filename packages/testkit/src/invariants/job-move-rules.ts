/** What must hold of each step of a job: who took it, from where to where, and with what it was written. */
import {
  batchRow,
  bucketOf,
  isFinal,
  isLive,
  type JobState,
  type JobStatus,
  jobRow,
  predecessor,
  records,
  resumeAt,
  resumeChoices,
} from "@sluice/queue-core";
import type { Finding, InvariantId } from "./names.ts";
import { isRepair, namesOperator } from "./operators.ts";
import type { JobChange } from "./views.ts";

interface Move {
  readonly from: JobStatus;
  readonly to: JobStatus;
}

/** null when the state stays: a claim and a hand-back write the same words again. */
export function moveOf({ before, after }: JobChange): Move | null {
  if (before.status === null || after.status === null) return null;
  return before.status.status === after.status.status ? null : { from: before.status, to: after.status };
}

const isResume = ({ from, to }: Move): boolean => from.status === "Failed" && to.status !== "Deleted";
const isSuccess = ({ from, to }: Move): boolean => jobRow(from.status).done === to.status;

/** A batch that is being deleted takes its jobs with it, whatever they do, and needs no lock for it. */
export const goesWithBatch = ({ batch }: JobChange, to: JobState): boolean =>
  to === "Deleted" && batch?.status?.status === "Deleted";

export const JOB_MOVE_RULES: Partial<Record<InvariantId, (change: JobChange) => Finding>> = {
  "I-14": (change) => {
    const { before, after } = change;
    if (!before.exists && after.exists && before.removed) return "re-appeared after it was removed";
    const move = moveOf(change);
    return move !== null && isFinal(move.from.status) ? `${move.from.status} became ${move.to.status}` : null;
  },

  "I-15": (change) => {
    const move = moveOf(change);
    if (move !== null) return illegalMove(change, move);
    return change.before.exists || change.after.status === null ? null : illegalBirth(change, change.after.status);
  },

  "I-16": (change) => {
    const move = moveOf(change);
    if (move === null) return sameStateKeeps(change, "last_successful_status");
    const { from, to } = move;
    const found = to.last_successful_status;
    if (isSuccess(move)) return found === from.status ? null : `${from.status} succeeded, but it says ${String(found)}`;
    if (isResume(move)) return wrongResume(move);
    const kept = found === from.last_successful_status;
    return kept
      ? null
      : `${from.status} → ${to.status} changed it from ${String(from.last_successful_status)} to ${String(found)}`;
  },

  "I-17": (change) => {
    const move = moveOf(change);
    if (move === null) return sameStateKeeps(change, "retry_count");
    const wanted = move.from.retry_count + (isResume(move) ? 1 : 0);
    const { retry_count: found } = move.to;
    return found === wanted ? null : `${move.from.status} → ${move.to.status} made it ${found}, not ${wanted}`;
  },

  "I-18": (change) => {
    const { before, after } = change;
    if (!before.exists || !after.exists || isRepair(change)) return null;
    return entryApart(change) ?? bucketApart(change);
  },

  "I-27": (change) => {
    const move = moveOf(change);
    if (move?.from.status !== "Pending" || move.to.status !== "Estimating") return null;
    const { configuration } = change.after;
    const decoded = configuration === null ? null : records.jobConfiguration.decode(configuration);
    const profile = decoded?.ok === true ? decoded.value.profile_name : "";
    return change.holds.has(profile) ? `started though its collection ${profile} is held` : null;
  },
};

function illegalMove(change: JobChange, move: Move): Finding {
  const [from, to] = [move.from.status, move.to.status];
  if (goesWithBatch(change, to) && !isFinal(from)) return null;
  const { role } = change.author;
  if (role === "operator" || namesOperator(change)) return illegalForOperator(change, move);
  const row = jobRow(from);
  if (row.owner !== role) return `${from} → ${to} by ${role}, which does not own ${from}`;
  // A poison job is quarantined wherever it is worked.
  return to === row.done || to === row.fail || to === row.park || to === "Failed" ? null : `no edge ${from} → ${to}`;
}

function illegalForOperator({ batchBefore }: JobChange, move: Move): Finding {
  const [from, to] = [move.from.status, move.to.status];
  if (isResume(move)) {
    const state = batchBefore?.status?.status;
    return state !== undefined && batchRow(state).resumable ? null : `resumed while its batch is ${state ?? "gone"}`;
  }
  if (Object.values(jobRow(from).operator).includes(to)) return null;
  return to === "Failed" && isLive(from) ? null : `no operator's edge ${from} → ${to}`;
}

/** A row that cannot become work is born Failed. */
function illegalBirth({ author, after }: JobChange, { status }: JobStatus): Finding {
  if (!after.exists) return null;
  if (status !== "Pending" && status !== "Held" && status !== "Failed") return `born ${status}`;
  const mayMake = author.role === "operator" || author.role === "batch-intake";
  return mayMake ? null : `made by ${author.role}`;
}

function wrongResume({ from, to }: Move): Finding {
  const last = from.last_successful_status;
  const found = to.last_successful_status;
  if (to.status === resumeAt(last) && found === last) return null;
  const chosen = resumeChoices(last).includes(to.status) && found === predecessor(to.status);
  return chosen ? null : `after ${String(last)} resumed at ${to.status} with ${String(found)}`;
}

function sameStateKeeps({ before, after }: JobChange, key: "last_successful_status" | "retry_count"): Finding {
  if (before.status === null || after.status === null) return null;
  const [was, is] = [before.status[key], after.status[key]];
  return was === is ? null : `changed from ${String(was)} to ${String(is)} in ${after.status.status}`;
}

function entryApart(change: JobChange): Finding {
  const { before, after } = change;
  const states = (view: typeof before): string => view.entries.map(({ state }) => state).join();
  const entryMoved = states(before) !== states(after);
  const move = moveOf(change);
  if (move !== null && !entryMoved) return `${move.from.status} → ${move.to.status} without its entry`;
  if (move !== null || !entryMoved) return null;
  const swept = after.entries.length === 0 && after.status !== null && isFinal(after.status.status);
  return swept
    ? null
    : `entry moved from ${states(before) || "nowhere"} to ${states(after) || "nowhere"} without the status`;
}

function bucketApart(change: JobChange): Finding {
  const buckets = ({ buckets: places }: JobChange["after"]): string => places.map(({ bucket }) => bucket).join();
  const [was, is] = [buckets(change.before), buckets(change.after)];
  const move = moveOf(change);
  const shouldMove = move !== null && bucketOf(move.from.status) !== bucketOf(move.to.status);
  if (shouldMove === (was !== is)) return null;
  return shouldMove
    ? `became ${move.to.status} and stayed in ${was}`
    : `went from ${was || "no bucket"} to ${is || "none"} without the status`;
}
