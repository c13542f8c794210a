import { type BatchState, BATCH_STATES, batchRow, records } from "@sluice/queue-core";
import type { Finding, InvariantId } from "./names.ts";
import { operatesBatch } from "./operators.ts";
import type { BatchChange, BatchView } from "./views.ts";

const ENTRYLESS: ReadonlySet<BatchState> = new Set(["Completed", "Deleted"]);
const REPORTED: ReadonlySet<BatchState> = new Set(["Reporting", "UpdateReporting", "Completed"]);

function moveOf({ before, after }: BatchChange): { from: BatchState; to: BatchState } | null {
  if (before.status === null || after.status === null) return null;
  const [from, to] = [before.status.status, after.status.status];
  return from === to ? null : { from, to };
}

const ended = ({ buckets }: BatchView): number =>
  buckets["batch-completed"].size + buckets["batch-failed"].size + buckets["batch-deleted"].size;

export const BATCH_RULES: Partial<Record<InvariantId, (change: BatchChange) => Finding>> = {
  "I-01": ({ after }) => {
    if (!after.exists || after.entries.length === 1) return null;
    if (after.entries.length > 1) return `listed as ${after.entries.join(" and ")}`;
    const state = after.status?.status;
    return state !== undefined && ENTRYLESS.has(state)
      ? null
      : `${state ?? "without status"} and not listed in /fleet/batches`;
  },

  "I-02": ({ after }) => {
    const state = after.status?.status;
    if (!after.exists || state === undefined) return null;
    const wrong = after.entries.find((entry) => entry !== state);
    return wrong === undefined ? null : `status ${state}, listed as ${wrong}`;
  },

  "I-09": ({ before, after }) => {
    if (!after.exists) return goneWrongly(before, after);
    const missing = ["submission", "status"].filter((name) => !after.children.has(name));
    if (missing.length > 0) return `without ${missing.join(", ")}`;
    if (after.status === null) return "status not readable";
    const least = ENTRYLESS.has(after.status.status) ? 0 : 1;
    return after.uuids.length >= least && after.uuids.length <= 1 ? null : `has ${after.uuids.length} UUIDs`;
  },

  "I-10": (change) => {
    const { before, after } = change;
    const { made, expansion } = after;
    const state = after.status?.status;
    if (!after.exists || state === undefined) return null;
    if (made > before.made && state !== "Processing") return `jobs were made while it is ${state}`;
    // Cleaned up before the batch itself goes.
    if (expansion === null) return made === 0 || ENTRYLESS.has(state) ? null : `${made} jobs without /fleet/expansion`;
    if (made !== expansion.created) return `${made} jobs were made, /fleet/expansion says ${expansion.created}`;
    const short = REPORTED.has(state) && made !== expansion.rows;
    return short ? `${state} with ${made} of ${expansion.rows} jobs` : null;
  },

  "I-11": (change) => {
    const move = moveOf(change);
    if (move?.to !== "Reporting" && move?.to !== "UpdateReporting") return null;
    const { after } = change;
    const left = after.buckets["batch-processing"].size;
    if (left > 0) return `${move.to} with ${left} jobs left`;
    const rows = after.expansion?.rows;
    if (rows === undefined) return `${move.to} without /fleet/expansion`;
    return ended(after) === rows ? null : `${move.to} with ${ended(after)} of ${rows} jobs ended`;
  },

  "I-12": ({ after, author }) => {
    if (after.report === null || after.reportZxid !== author.zxid) return null;
    const decoded = records.statusReport.decode(after.report);
    if (!decoded.ok) return decoded.problem;
    const { counts, failed_jobs: failed, successful_jobs: successful } = decoded.value;
    const { "batch-failed": inFailed, "batch-completed": inCompleted } = after.buckets;
    if (counts !== undefined) {
      const right = counts.failed === inFailed.size && counts.successful === inCompleted.size;
      return right
        ? null
        : `counts ${counts.failed} failed, ${counts.successful} completed; it has ${inFailed.size} and ${inCompleted.size}`;
    }
    return difference("failed", failed, inFailed) ?? difference("successful", successful, inCompleted);
  },

  "I-13": (change) => {
    const move = moveOf(change);
    if (move?.from !== "Reporting" && move?.from !== "UpdateReporting") return null;
    const failed = change.after.buckets["batch-failed"].size;
    if (move.to === "Completed" && failed > 0) return `Completed with ${failed} failed jobs`;
    return move.to === "Failed" && failed === 0 ? "Failed without a failed job" : null;
  },

  "I-14": (change) => {
    const { before, after } = change;
    if (!before.exists && after.exists && before.removed) return "re-appeared after it was removed";
    const move = moveOf(change);
    return move !== null && ENTRYLESS.has(move.from) ? `${move.from} became ${move.to}` : null;
  },

  "I-15": (change) => {
    const move = moveOf(change);
    const { role } = change.author;
    if (move === null) return illegalBirth(change);
    const row = batchRow(move.from);
    const edge = `${move.from} → ${move.to}`;
    if (move.from === "Processing" && move.to === "Failed" && change.after.made > 0)
      return `${edge} with ${change.after.made} jobs made`;
    if (operatesBatch(change) && Object.values(row.operator).includes(move.to)) return null;
    if (role === "operator") return `no operator's edge ${edge}`;
    if (!row.owner.includes(role)) return `${edge} by ${role}, which does not own ${move.from}`;
    return move.to === row.done || move.to === row.fail || move.to === row.park ? null : `no edge ${edge}`;
  },

  "I-18": (change) => {
    const { before, after } = change;
    if (!before.exists || !after.exists) return null;
    const entryMoved = before.entries.join() !== after.entries.join();
    const move = moveOf(change);
    if (move !== null && !entryMoved) return `${move.from} → ${move.to} without its entry in /fleet/batches`;
    const swept = after.entries.length === 0 && after.status !== null && ENTRYLESS.has(after.status.status);
    return move === null && entryMoved && !swept ? "its entry in /fleet/batches moved without the status" : null;
  },

  "I-27": (change) => {
    const move = moveOf(change);
    if (move?.from !== "Pending" || move.to !== "Processing" || change.after.submission === null) return null;
    const decoded = records.submission.decode(change.after.submission);
    const profile = decoded.ok ? decoded.value.profile_name : "";
    return change.holds.has(profile) ? `started though its collection ${profile} is held` : null;
  },
};

function illegalBirth({ before, after }: BatchChange): Finding {
  const state = after.status?.status;
  if (before.exists || !after.exists || state === undefined) return null;
  return state === "Pending" || state === "Held" ? null : `born ${state}`;
}

function goneWrongly(before: BatchView, after: BatchView): Finding {
  if (after.uuids.length > 0) return `no such batch, but UUID ${after.uuids.join(", ")} names it`;
  if (after.children.size > 0) return `no node of its own, but ${[...after.children].join(", ")}`;
  if (!before.exists) return null;
  const state = before.status?.status ?? BATCH_STATES[0];
  return ENTRYLESS.has(state) ? null : `removed while ${state}`;
}

function difference(what: string, listed: readonly string[], members: ReadonlySet<string>): Finding {
  const names = new Set(listed);
  if (names.size < listed.length) return `its report names ${what} jobs twice`;
  const missing = [...members].filter((id) => !names.has(id));
  if (missing.length > 0) return `its report leaves out the ${what} ${missing.join(", ")}`;
  const surplus = listed.filter((id) => !members.has(id));
  return surplus.length === 0 ? null : `its report calls ${surplus.join(", ")} ${what}`;
}
