/**
 * Which of these runs stand in a segment. A job that repeats may have all of it: its runs end one after the other, and each
 * has a later token than the one before, so that one is looked for by halves and not among all.
 */
import type { EndedRun } from "@sluice/job-queue";
import type { RunPlaces } from "./run-index.ts";

/** The run that stands there; null: what stands there cannot be read. */
export type RunAt = (offset: number) => Promise<EndedRun | null>;

export async function keptAlready(
  places: RunPlaces,
  runs: readonly EndedRun[],
  runAt: RunAt,
): Promise<readonly EndedRun[]> {
  const { minId, maxId, maxEnded } = places.facts;
  const possible = runs.filter(({ id, done }) => done.ended <= maxEnded && id >= minId && id <= maxId);
  const found: EndedRun[] = [];
  for (const [id, ofJob] of byJob(possible)) {
    const offsets = await places.ofJob(id, Infinity);
    for (const run of ofJob) if (await isAmong(offsets, run, runAt)) found.push(run);
  }
  return found;
}

function byJob(runs: readonly EndedRun[]): ReadonlyMap<number, readonly EndedRun[]> {
  const groups = new Map<number, EndedRun[]>();
  for (const run of runs) {
    const group = groups.get(run.id);
    if (group === undefined) groups.set(run.id, [run]);
    else group.push(run);
  }
  return groups;
}

/** `offsets`: the last one first. */
async function isAmong(offsets: readonly number[], { token }: EndedRun, runAt: RunAt): Promise<boolean> {
  for (let [low, high] = [0, offsets.length]; low < high;) {
    const middle = Math.floor((low + high) / 2);
    const there = await runAt(offsets[middle] ?? 0);
    // It does not say where to go on.
    if (there === null) return anyOf(offsets.slice(low, high), token, runAt);
    if (there.token === token) return true;
    if (isLater(there.token, token)) low = middle + 1;
    else high = middle;
  }
  return false;
}

async function anyOf(offsets: readonly number[], token: string, runAt: RunAt): Promise<boolean> {
  for (const offset of offsets) if ((await runAt(offset))?.token === token) return true;
  return false;
}

const isLater = (first: string, second: string): boolean => {
  const [term, taken] = partsOf(first);
  const [otherTerm, otherTaken] = partsOf(second);
  return term > otherTerm || (term === otherTerm && taken > otherTaken);
};

function partsOf(token: string): readonly [number, number] {
  const [term = 0, taken = 0] = token.split(".").map(Number);
  return [term, taken];
}
