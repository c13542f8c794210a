import { expect, test } from "@jest/globals";
import { drainJournals } from "../src/drain-journals.ts";

const journal = (lines: number, broken: string | null = null) => ({
  lines,
  bytes: lines,
  usedRatio: 0,
  oldestAgeMs: null,
  idsLeft: 0,
  broken,
});

function begin(...stats: readonly ReturnType<typeof journal>[]) {
  const said: unknown[] = [];
  const kept = new Map(stats.map((each, shard) => [shard, each]));
  const over = new AbortController();
  const note = (...words: unknown[]): void => void said.push(words);
  const done = drainJournals({ stats: () => kept }, { info: note, warn: note } as never, over.signal);
  return { said, kept, over, done };
}

test("waits until every journal is empty", async () => {
  const { said, kept, done } = begin(journal(2), journal(3));
  kept.set(0, journal(0));
  const first = await Promise.race([done.then(() => "gone"), new Promise((resolve) => setImmediate(resolve, "waits"))]);
  expect(first).toBe("waits");
  kept.set(1, journal(0));
  await done;
  expect(said).toEqual([
    [{ jobs: 5 }, expect.stringContaining("waits")],
    [{ jobs: 5 }, "the journal is empty"],
  ]);
});

test("says what stays when the time is over", async () => {
  const { said, kept, over, done } = begin(journal(2), journal(3));
  kept.set(0, journal(0));
  over.abort();
  await done;
  expect(said[1]).toEqual([{ jobs: 3 }, expect.stringContaining("stay in JOURNAL_DIR")]);
});

test("does not wait for a journal that cannot be written, and is silent about none at all", async () => {
  const broken = begin(journal(4, "disk full"));
  await broken.done;
  expect(broken.said.at(-1)).toEqual([{ jobs: 4 }, expect.stringContaining("stay")]);
  const empty = begin();
  await empty.done;
  expect(empty.said).toEqual([]);
});
