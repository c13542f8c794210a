import { describe, expect, test } from "@jest/globals";
import { type Candidate, jobId, type QueueEntry } from "@sluice/queue-core";
import { estimate, HEAD_MAX, sampleOf, SPREAD_MAX } from "../src/sample.ts";

const entries = (count: number, priority: (i: number) => number = () => 5): QueueEntry[] =>
  Array.from({ length: count }, (_, i) => ({ priority: priority(i), id: jobId(i) })).sort(
    (a, b) => a.priority - b.priority,
  );
const ready = (entry: QueueEntry, readyAtMs: number): Candidate => ({ kind: "ready", entry, readyAtMs }) as Candidate;
const locked = (entry: QueueEntry, sinceMs = 0): Candidate => ({ kind: "locked", entry, lock: null, sinceMs });

describe("the sample of a queue", () => {
  test("is the whole queue as long as it is short", () => {
    const all = entries(HEAD_MAX + SPREAD_MAX);
    expect(sampleOf(all)).toEqual({ head: all, spread: [], rest: 0 });
  });

  test("stays small at any depth and reaches its end", () => {
    const all = entries(50_000);
    const { head, spread, rest } = sampleOf(all);
    expect(head).toEqual(all.slice(0, HEAD_MAX));
    expect(rest).toBe(50_000 - HEAD_MAX);
    expect(spread).toHaveLength(SPREAD_MAX);
    expect(spread.at(-1)!.id > jobId(49_000)).toBe(true);
  });

  test("has the first entry of each priority, where the oldest job of a starving priority is", () => {
    const all = entries(10_000, (i) => (i === 0 ? 99 : i % 3 === 0 ? 40 : 5));
    const { spread } = sampleOf(all);
    expect(spread).toContainEqual({ priority: 99, id: jobId(0) });
    expect(spread).toContainEqual({ priority: 40, id: jobId(3) });
  });
});

describe("what a sample says of the whole", () => {
  const [a, b, c] = entries(3) as [QueueEntry, QueueEntry, QueueEntry];

  test("is exact for a short queue", () => {
    expect(estimate([ready(a, 70), locked(b, 40), ready(c, 50)], [], 0)).toEqual({
      ready: 2,
      exact: true,
      oldestReadyAtMs: 50,
      oldestLockAtMs: 40,
    });
  });

  test("is reckoned from the spread for a long one", () => {
    expect(estimate([locked(a, 60)], [ready(b, 30), locked(c, 20)], 1_000)).toEqual({
      ready: 500,
      exact: false,
      oldestReadyAtMs: 30,
      oldestLockAtMs: 20,
    });
  });

  test("is nothing for a queue in which all is in hand", () => {
    expect(estimate([locked(a, 60)], [], 0)).toMatchObject({ ready: 0, exact: true, oldestReadyAtMs: null });
    expect(estimate([ready(a, 60)], [], 0)).toMatchObject({ oldestLockAtMs: null });
  });
});
