/** Which lines wait in which record, oldest first. Lines are known by their ids, which only grow. In memory, no I/O. */
import type { IdRun } from "./id-runs.ts";

interface WaitingRecord {
  readonly number: number;
  readonly runs: readonly IdRun[];
  readonly last: number;
}

export interface Picked extends IdRun {
  readonly count: number;
}

export class WaitingLines {
  #records: WaitingRecord[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Runs are in increasing order, above all that were added before. */
  add(number: number, runs: readonly IdRun[]): void {
    this.#records.push({ number, runs, last: runs.at(-1)?.last ?? 0 });
    this.#count += sizeOf(runs);
  }

  /** The first lines above an id that are in nobody's hand, up to a number of them and without a gap. */
  pick(above: number, most: number, taken: readonly IdRun[]): Picked | null {
    let picked = null as Picked | null;
    let bound = Infinity;
    for (const run of this.#runsAbove(above)) {
      for (const free of without(run, taken)) {
        if (free.first > bound) return picked;
        if (picked === null)
          bound = taken.reduce((least, { first }) => (first > free.first ? Math.min(least, first) : least), Infinity);
        const before: number = picked?.count ?? 0;
        const last: number = Math.min(free.last, free.first + most - before - 1);
        picked = { first: picked?.first ?? free.first, last, count: before + last - free.first + 1 };
        if (picked.count >= most) return picked;
      }
    }
    return picked;
  }

  /** The first id above this one; null: nothing waits. */
  firstAbove(id: number): number | null {
    for (const run of this.#runsAbove(id)) return run.first;
    return null;
  }

  /** Records that hold lines between these two. */
  recordsOf({ first, last }: IdRun): readonly number[] {
    return this.#records
      .filter(({ runs }) => runs.some((run) => run.first <= last && first <= run.last))
      .map(({ number }) => number);
  }

  /** Forgets records whose every line is at or below this one; answers the newest of them. */
  forget(upTo: number): number | null {
    const keep = this.#records.findIndex(({ last }) => last > upTo);
    const gone = this.#records.splice(0, keep < 0 ? this.#records.length : keep);
    this.#count -= gone.reduce((sum, { runs }) => sum + sizeOf(runs), 0);
    return gone.at(-1)?.number ?? null;
  }

  *#runsAbove(id: number): Generator<IdRun> {
    for (const { runs, last } of this.#records) {
      if (last <= id) continue;
      for (const run of runs) if (run.last > id) yield { first: Math.max(run.first, id + 1), last: run.last };
    }
  }
}

const sizeOf = (runs: readonly IdRun[]): number => runs.reduce((sum, { first, last }) => sum + last - first + 1, 0);

/** What is left of a run, in order. */
function without(run: IdRun, taken: readonly IdRun[]): readonly IdRun[] {
  const left: IdRun[] = [];
  let from = run.first;
  for (const { first, last } of [...taken].sort((a, b) => a.first - b.first)) {
    if (last < from || first > run.last) continue;
    if (first > from) left.push({ first: from, last: first - 1 });
    from = last + 1;
  }
  if (from <= run.last) left.push({ first: from, last: run.last });
  return left;
}
