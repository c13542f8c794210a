import type { AdmissionCandidate, AdmissionVerdicts, Survey } from "@sluice/stage-runtime";

/** Shares of the volume, 0 to 1. */
export interface SpaceLimits {
  /** A job of known size goes on while all that is promised stays within this share. */
  readonly known: number;
  /** A job of unknown size goes on only below this share: it may turn out to be anything. */
  readonly unknown: number;
}

type Verdict = { readonly admit: true } | { readonly admit: false; readonly why: string };

/** What is promised to jobs, and what the volume can still take: changed by every admission of the round. */
interface Room {
  readonly totalBytes: number;
  readonly reservedBytes: number;
  readonly freeBytes: number;
}

const ADMITTED: Verdict = { admit: true };

/**
 * Decides on every waiting job, the most urgent first. A large one that has to wait does not stop the smaller ones
 * behind it. What is admitted here counts at once for those that follow.
 */
export function decide(
  candidates: readonly AdmissionCandidate[],
  reservedBytes: number,
  survey: Survey,
  limits: SpaceLimits,
): AdmissionVerdicts {
  const verdicts = new Map<AdmissionCandidate["id"], Verdict>();
  let room: Room = { totalBytes: survey.totalBytes, freeBytes: survey.freeBytes, reservedBytes };
  for (const candidate of inOrder(candidates)) {
    const verdict = judge(candidate.spaceNeeded, room, limits);
    verdicts.set(candidate.id, verdict);
    if (verdict.admit) room = without(room, candidate.spaceNeeded);
  }
  return verdicts;
}

/** By priority; within one, collections take turns; then by age: job ids are given out in ascending order. */
function inOrder(candidates: readonly AdmissionCandidate[]): readonly AdmissionCandidate[] {
  return [...candidates].sort(
    (a, b) => a.priority - b.priority || (a.turn ?? 0) - (b.turn ?? 0) || (a.id < b.id ? -1 : 1),
  );
}

function judge(neededBytes: number, room: Room, limits: SpaceLimits): Verdict {
  return neededBytes > 0 ? judgeKnown(neededBytes, room, limits.known) : judgeUnknown(room, limits.unknown);
}

function judgeKnown(neededBytes: number, room: Room, limit: number): Verdict {
  const allowed = room.totalBytes * limit;
  if (neededBytes > allowed) {
    return wait(`needs ${inUnits(neededBytes)}, more than ${percent(limit)} of the volume (${inUnits(allowed)})`);
  }
  if (room.reservedBytes + neededBytes > allowed) {
    const left = Math.max(0, allowed - room.reservedBytes);
    return wait(`needs ${inUnits(neededBytes)}, ${inUnits(left)} left below ${percent(limit)} of the volume`);
  }
  if (neededBytes > room.freeBytes) {
    return wait(`needs ${inUnits(neededBytes)}, ${inUnits(Math.max(0, room.freeBytes))} free on the volume`);
  }
  return ADMITTED;
}

/** Promises and real use both count: jobs of unknown size reserve nothing, so only the volume shows what they took. */
function judgeUnknown(room: Room, limit: number): Verdict {
  const taken = Math.max(room.reservedBytes, room.totalBytes - room.freeBytes);
  if (taken < room.totalBytes * limit) return ADMITTED;
  const share = room.totalBytes > 0 ? taken / room.totalBytes : 1;
  return wait(`size unknown: waits until the volume is below ${percent(limit)}, it is at ${percent(share)}`);
}

const without = (room: Room, bytes: number): Room => ({
  totalBytes: room.totalBytes,
  reservedBytes: room.reservedBytes + bytes,
  freeBytes: room.freeBytes - bytes,
});

const wait = (why: string): Verdict => ({ admit: false, why });

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

function inUnits(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"] as const;
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step] ?? "B"}`;
}
