/** Who of the waiting jobs may go on. Pure. */
import type { AdmissionCandidate, AdmissionVerdicts, Promised, Survey, WaitsFor } from "@sluice/stage-runtime";

/** Shares of the volume, 0 to 1. */
export interface SpaceLimits {
  /** A job of known size goes on while all that is promised or used stays within this share. */
  readonly known: number;
  /** A job of unknown size goes on only below this share: it may turn out to be anything. */
  readonly unknown: number;
}

type Verdict = AdmissionVerdicts extends ReadonlyMap<unknown, infer V> ? V : never;
type Refusal = Exclude<Verdict, { readonly admit: true }>;

/** What the volume can still take: changed by every admission of the round. */
interface Room {
  readonly totalBytes: number;
  /** Promised, uploaded, or used by anything else: one byte of the volume is never counted twice. */
  readonly takenBytes: number;
  readonly freeBytes: number;
  /** What would still be taken if every job under way had ended. */
  readonly stayingBytes: number;
}

const ADMITTED: Verdict = { admit: true };

/**
 * Decides on every waiting job, the most urgent first. A large one that has to wait does not stop the smaller ones behind it,
 * until it is overdue: then the room that jobs under way leave is kept for it, and nobody behind it goes on before it does.
 * What is admitted here counts at once for those that follow.
 */
export function decide(
  candidates: readonly AdmissionCandidate[],
  promised: Promised,
  survey: Survey,
  limits: SpaceLimits,
): AdmissionVerdicts {
  const verdicts = new Map<AdmissionCandidate["id"], Verdict>();
  let room = roomOf(promised, survey);
  let keeper: AdmissionCandidate | null = null;
  for (const candidate of inOrder(candidates)) {
    const verdict: Verdict = keeper === null ? judge(candidate, room, limits) : behind(candidate, keeper, room, limits);
    verdicts.set(candidate.id, verdict);
    if (verdict.admit) room = without(room, candidate.spaceNeeded);
    else if (verdict.waitsFor === "kept-room") keeper = candidate;
  }
  return verdicts;
}

/** By priority; within one, collections take turns; then by age: job ids are given out in ascending order. */
function inOrder(candidates: readonly AdmissionCandidate[]): readonly AdmissionCandidate[] {
  return [...candidates].sort(
    (a, b) => a.priority - b.priority || (a.turn ?? 0) - (b.turn ?? 0) || (a.id < b.id ? -1 : 1),
  );
}

function roomOf({ bytes, failedBytes, unknownJobs }: Promised, { totalBytes, freeBytes, uploadedBytes }: Survey): Room {
  const usedBytes = Math.max(0, totalBytes - freeBytes);
  // Jobs of unknown size promise nothing: while some are under way, nobody knows how much of the use goes with them.
  const otherUse = unknownJobs > 0 ? 0 : usedBytes - (bytes - failedBytes);
  return {
    totalBytes,
    freeBytes,
    takenBytes: Math.max(bytes + uploadedBytes, usedBytes),
    stayingBytes: Math.max(failedBytes + uploadedBytes, otherUse),
  };
}

function judge(candidate: AdmissionCandidate, room: Room, limits: SpaceLimits): Verdict {
  const { spaceNeeded: needed, overdueSinceMs } = candidate;
  const refusal = needed > 0 ? judgeKnown(needed, room, limits.known) : judgeUnknown(room, limits.unknown);
  if (refusal === null) return ADMITTED;
  if (overdueSinceMs === undefined || refusal.waitsFor === "larger-volume") return refusal;
  const comesFree =
    needed > 0
      ? room.stayingBytes + needed <= room.totalBytes * limits.known
      : room.stayingBytes < room.totalBytes * limits.unknown;
  if (!comesFree) {
    // Keeping room would stop everybody, and bring it no nearer.
    return wait("clearing", `${refusal.why}; ${inUnits(room.stayingBytes)} of failed jobs, uploads, others stay`);
  }
  return wait("kept-room", `${refusal.why}; kept for it, it waits since ${inMinutes(overdueSinceMs)}`);
}

function judgeKnown(needed: number, room: Room, limit: number): Refusal | null {
  const allowed = room.totalBytes * limit;
  const needs = `needs ${inUnits(needed)}`;
  if (needed > allowed) {
    return wait("larger-volume", `${needs}, more than ${percent(limit)} of the volume (${inUnits(allowed)})`);
  }
  if (room.takenBytes + needed > allowed) {
    const left = Math.max(0, allowed - room.takenBytes);
    return wait("room", `${needs}, ${inUnits(left)} left below ${percent(limit)} of the volume`);
  }
  if (needed > room.freeBytes) {
    return wait("room", `${needs}, ${inUnits(Math.max(0, room.freeBytes))} free on the volume`);
  }
  return null;
}

/** Promises and real use both count: jobs of unknown size reserve nothing, so only the volume shows what they took. */
function judgeUnknown(room: Room, limit: number): Refusal | null {
  if (room.takenBytes < room.totalBytes * limit) return null;
  const share = room.totalBytes > 0 ? room.takenBytes / room.totalBytes : 1;
  return wait(
    "room",
    `size unknown: admitted when less than ${percent(limit)} of the volume is used or promised; now ${percent(share)}`,
  );
}

/** Nobody knows when a job ends, so every byte given away may be the one that the overdue job lacks in the end. */
function behind(candidate: AdmissionCandidate, keeper: AdmissionCandidate, room: Room, limits: SpaceLimits): Verdict {
  const refusal = candidate.spaceNeeded > 0 ? judgeKnown(candidate.spaceNeeded, room, limits.known) : null;
  if (refusal?.waitsFor === "larger-volume") return refusal;
  const size = keeper.spaceNeeded > 0 ? inUnits(keeper.spaceNeeded) : "room";
  return wait(
    "turn",
    `room is kept for ${keeper.id}, which waits for ${size} since ${inMinutes(keeper.overdueSinceMs)}`,
  );
}

const without = (room: Room, bytes: number): Room => ({
  ...room,
  takenBytes: room.takenBytes + bytes,
  freeBytes: room.freeBytes - bytes,
});

const wait = (waitsFor: WaitsFor, why: string): Refusal => ({ admit: false, waitsFor, why });

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

const inMinutes = (ms = 0): string => `${new Date(ms).toISOString().slice(0, 16)}Z`;

function inUnits(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"] as const;
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step] ?? "B"}`;
}
