import type { Candidate, QueueEntry } from "@sluice/queue-core";
import { earliest } from "./entries.ts";

/**
 * Which entries of a queue to look at, so that a survey costs the same at any depth. Entries come sorted by priority,
 * then by number. Taken are the head (what is worked now), the first of each priority (the oldest of it), and entries
 * spread evenly over the rest (what is typical).
 */
export interface Sample {
  readonly head: readonly QueueEntry[];
  readonly spread: readonly QueueEntry[];
  /** How many entries the spread stands for. */
  readonly rest: number;
}

export const HEAD_MAX = 100;
export const SPREAD_MAX = 100;
const FIRST_OF_EACH_PRIORITY = 1;

export function sampleOf(entries: readonly QueueEntry[]): Sample {
  if (entries.length <= HEAD_MAX + SPREAD_MAX) return { head: entries, spread: [], rest: 0 };
  const rest = entries.slice(HEAD_MAX);
  const step = rest.length / SPREAD_MAX;
  const even = Array.from({ length: SPREAD_MAX }, (_, i) => rest[Math.floor(i * step)]).filter((e) => e !== undefined);
  return {
    head: entries.slice(0, HEAD_MAX),
    spread: [...new Set([...even, ...firstOfEachPriority(rest)])],
    rest: rest.length,
  };
}

function firstOfEachPriority(entries: readonly QueueEntry[]): readonly QueueEntry[] {
  const seen = new Map<number, number>();
  return entries.filter(({ priority }) => {
    const count = (seen.get(priority) ?? 0) + 1;
    seen.set(priority, count);
    return count <= FIRST_OF_EACH_PRIORITY;
  });
}

export interface ReadyEstimate {
  readonly ready: number;
  readonly exact: boolean;
  readonly oldestReadyAtMs: number | null;
  /** Of those that were looked at. */
  readonly oldestLockAtMs: number | null;
}

/** What the sample says about the whole queue. `head` and `spread` are the sample's entries, looked at. */
export function estimate(head: readonly Candidate[], spread: readonly Candidate[], rest: number): ReadyEstimate {
  const readyOf = (candidates: readonly Candidate[]) => candidates.filter((candidate) => candidate.kind === "ready");
  const share = spread.length === 0 ? 0 : readyOf(spread).length / spread.length;
  const looked = [...head, ...spread];
  return {
    ready: readyOf(head).length + Math.round(rest * share),
    exact: rest === 0,
    oldestReadyAtMs: earliest(readyOf(looked).map(({ readyAtMs }) => readyAtMs)),
    oldestLockAtMs: earliest(looked.flatMap((each) => (each.kind === "locked" ? [each.sinceMs] : []))),
  };
}
