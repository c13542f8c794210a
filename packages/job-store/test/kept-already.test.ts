/** What an owner that takes over finds of runs that were kept before: few looks, however often a job has run. */
import { expect, test } from "@jest/globals";
import type { EndedRun } from "@sluice/job-queue";
import { keptAlready } from "../src/runs/kept-already.ts";
import { RunIndex } from "../src/runs/run-index.ts";

const runOf = (id: number, n: number): EndedRun => ({
  id,
  token: `${n < 900 ? 9 : 10}.${n + 1}`,
  done: { name: "repeats", tenant: "default", created: 0, ended: n },
});

/** One job has every run but those of a second one, now and then. */
function segmentOf(count: number) {
  const index = new RunIndex();
  const runs = Array.from({ length: count }, (_, n) => runOf(n % 100 === 7 ? 2 : 1, n));
  for (const [n, run] of runs.entries()) index.add(run, n);
  let looks = 0;
  const bad = new Set<number>();
  const runAt = (offset: number): Promise<EndedRun | null> => {
    looks += 1;
    return Promise.resolve(bad.has(offset) ? null : (runs[offset] ?? null));
  };
  return { index, runs, runAt, bad, looks: () => looks };
}

test("each is looked for by halves", async () => {
  const { index, runs, runAt, looks } = segmentOf(20_000);
  const wanted = [runs[0]!, runs[107]!, runs[899]!, runs[900]!, ...runs.slice(-400)];
  const others = [runOf(1, 30_000), { ...runs[7]!, token: "9.4711" }, { ...runs[300]!, token: "8.301" }];
  const mixed = [...wanted, ...others.map((run) => ({ ...run, done: { ...run.done, ended: 5 } }))];
  expect(new Set(await keptAlready(index, mixed, runAt))).toEqual(new Set(wanted));
  expect(looks()).toBeLessThan(mixed.length * 16);
});

test("what cannot be read hides no other", async () => {
  const { index, runs, runAt, bad } = segmentOf(1_000);
  for (let n = 400; n < 600; n += 3) bad.add(n);
  const wanted = runs.filter((_, n) => !bad.has(n));
  expect(new Set(await keptAlready(index, runs, runAt))).toEqual(new Set(wanted));
});
