/** Ids in increasing order, as runs of neighbours: "1-3+17001". Pure. */

export interface IdRun {
  readonly first: number;
  readonly last: number;
}

export function runsOf(ids: readonly number[]): readonly IdRun[] {
  const runs: { first: number; last: number }[] = [];
  for (const id of ids) {
    const open = runs.at(-1);
    if (open?.last === id - 1) open.last = id;
    else runs.push({ first: id, last: id });
  }
  return runs;
}

export const printIdRuns = (runs: readonly IdRun[]): string =>
  runs.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join("+");

/** What one batch can have: a damaged header must not fill the memory. */
const MOST = 100_000;

/** Null for what is none, or does not increase. */
export function parseIdRuns(text: string): readonly IdRun[] | null {
  const runs: IdRun[] = [];
  let before = 0;
  let count = 0;
  for (const part of text.split("+")) {
    const [, rawFirst, rawLast] = /^(\d{1,16})(?:-(\d{1,16}))?$/.exec(part) ?? [];
    if (rawFirst === undefined) return null;
    const run = { first: Number(rawFirst), last: Number(rawLast ?? rawFirst) };
    count += run.last - run.first + 1;
    if (run.first <= before || run.last < run.first || count > MOST) return null;
    runs.push(run);
    before = run.last;
  }
  return runs;
}

export const idsIn = (runs: readonly IdRun[]): readonly number[] =>
  runs.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, n) => first + n));
