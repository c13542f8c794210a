import { jobId, jobNumber, type JobId, ownerOfShare, shareOf } from "@sluice/queue-core";
import type { Watch } from "@sluice/zookeeper";
import { describe, expect, test } from "@jest/globals";
import type { Scope } from "../src/engine/scope.ts";
import { Waker } from "../src/engine/waker.ts";
import { Candidates } from "../src/jobs/candidates.ts";

const WORKERS = ["a", "b"];
const ids = Array.from({ length: 40 }, (_, i) => jobId(i + 1));
const ownedBy = (worker: string): JobId[] => ids.filter((id) => ownerOfShare(shareOf(id), WORKERS) === worker);
const name = (priority: number, id: JobId): string => `${String(priority).padStart(2, "0")}-${id}`;

/** A queue whose time and content the test sets; worker "a" looks at it. */
function queueOf(initial: readonly string[]) {
  const at = { nowMs: 0, names: initial, lists: 0, watches: [] as Watch[], chance: 0, inHand: new Set<string>() };
  const clock = { nowMs: () => at.nowMs, monotonicMs: () => at.nowMs };
  const session = {
    serverNowMs: () => at.nowMs,
    readEach: () => Promise.resolve({ ok: true, value: [] }),
    children: (_path: string, watch?: Watch) => {
      at.lists += 1;
      if (watch !== undefined) at.watches.push(watch);
      return Promise.resolve({ ok: true, value: { names: at.names } });
    },
  };
  const scope = {
    actor: { stage: "downloader", worker: "a" },
    queue: { session, clock },
    settings: { pollMs: 2_000, idlePollMs: 30_000, concurrency: 4, attemptsMax: 5 },
    members: { list: () => Promise.resolve(WORKERS), onChange: () => undefined },
    fleetIdGuard: { check: () => Promise.resolve() },
    pulse: { sawQueue: () => undefined },
    probe: () => undefined,
    random: () => at.chance,
    inHand: { has: (id: string) => at.inHand.has(id), of: () => 0 },
  } as unknown as Scope;
  return { at, candidates: new Candidates(scope, "Downloading", new Waker()) };
}

const idsOf = (entries: readonly { readonly id: JobId }[]): JobId[] => entries.map(({ id }) => id);

describe("the candidates of a worker", () => {
  test("are its own part; the others' only after a second in which those did not take them", async () => {
    const { at, candidates } = queueOf(ids.map((id) => name(10, id)));
    expect(idsOf(await candidates.next(100))).toEqual(ownedBy("a"));
    expect([await candidates.next(100), candidates.idleMs()]).toEqual([[], 1_000]);
    at.inHand = new Set(ownedBy("a"));
    at.nowMs = 999;
    expect(await candidates.next(100)).toEqual([]);
    at.nowMs = 1_000;
    const left = idsOf(await candidates.next(100));
    expect(left.sort((a, b) => jobNumber(a) - jobNumber(b))).toEqual(ownedBy("b"));
    expect([at.lists, candidates.idleMs()]).toEqual([2, 2_000]);
  });

  test("are the others' a moment later or earlier than for the next worker, so that not all claim one job at once", async () => {
    const { at, candidates } = queueOf(ids.map((id) => name(10, id)));
    at.chance = 0.5;
    at.inHand = new Set(ownedBy("a"));
    expect(await candidates.next(100)).toEqual([]);
    expect(candidates.idleMs()).toBe(1_250);
    at.nowMs = 1_249;
    expect(await candidates.next(100)).toEqual([]);
    at.nowMs = 1_250;
    expect(idsOf(await candidates.next(100)).sort()).toEqual(ownedBy("b"));
  });

  test("are of another worker's part, if more urgent, only after that one let them lie for a second", async () => {
    const [mine, theirs] = [ownedBy("a")[0]!, ownedBy("b")[0]!];
    const { at, candidates } = queueOf([name(0, theirs), name(50, mine)]);
    expect(idsOf(await candidates.next(9))).toEqual([mine]);
    at.nowMs = 2_000;
    expect(idsOf(await candidates.next(9))).toEqual([theirs, mine]);
  });

  test("are listed once for many windows, and again at the poll", async () => {
    const { at, candidates } = queueOf(ids.map((id) => name(10, id)));
    for (let window = 0; window < 5; window++) await candidates.next(4);
    expect(at.lists).toBe(1);
    at.nowMs = 2_000;
    at.names = [name(0, jobId(99)), ...at.names];
    at.nowMs = 4_000;
    await candidates.next(4);
    expect(at.lists).toBe(2);
  });

  test("of a deep queue are listed once for so many that were taken, and otherwise seldom", async () => {
    const { at, candidates } = queueOf(Array.from({ length: 11_000 }, (_, i) => name(10, jobId(i + 1))));
    for (const ms of [0, 1_000, 2_000, 2_900]) {
      at.nowMs = ms;
      expect(await candidates.next(4)).toHaveLength(4);
    }
    expect(at.lists).toBe(1);
    at.nowMs = 3_000;
    expect(await candidates.next(100)).toHaveLength(100);
    expect(at.lists).toBe(2);
    at.nowMs += 2_000;
    await candidates.next(9);
    expect(at.lists).toBe(2);
    await candidates.next(1);
    await candidates.next(1);
    expect(at.lists).toBe(3);
  });

  test("of which others' have run dry are listed at most a fifth of the time, however often the watch fires", async () => {
    const theirs = Array.from({ length: 20_000 }, (_, i) => jobId(i + 1)).filter(
      (id) => ownerOfShare(shareOf(id), WORKERS) === "b",
    );
    const { at, candidates } = queueOf(theirs.map((id) => name(10, id)));
    expect(await candidates.next(4)).toEqual([]);
    for (let ms = 0; ms < 900; ms += 10) {
      at.nowMs = ms;
      at.watches.at(-1)?.();
      await candidates.next(4);
    }
    expect(at.lists).toBeLessThan(25);
    expect(candidates.idleMs()).toBeLessThan(200);
  });

  test("that have run dry are not listed again before the watch or the poll says so", async () => {
    const { at, candidates } = queueOf([]);
    for (let turn = 0; turn < 3; turn++) expect(await candidates.next(4)).toEqual([]);
    expect([at.lists, at.watches.length, candidates.idleMs()]).toEqual([1, 1, 30_000]);
    const [mine] = ownedBy("a") as [JobId];
    at.names = [name(1, mine)];
    at.watches[0]?.();
    expect(idsOf(await candidates.next(4))).toEqual([mine]);
    expect(at.watches).toHaveLength(2);
  });

  test("are not those that wait, until their time has come, nor those in hand", async () => {
    const [first, second] = ownedBy("a") as [JobId, JobId];
    const { at, candidates } = queueOf([name(1, first), name(1, second)]);
    at.inHand.add(second);
    expect(idsOf(await candidates.next(4))).toEqual([first]);
    candidates.wait({ priority: 1, id: first }, 500);
    expect(candidates.idleMs()).toBe(500);
    expect(await candidates.next(4)).toEqual([]);
    at.nowMs = 500;
    expect(idsOf(await candidates.next(4))).toEqual([first]);
  });

  test("that were put back come first again", async () => {
    const { candidates } = queueOf(ids.map((id) => name(10, id)));
    const first = await candidates.next(3);
    candidates.putBack(first.slice(1));
    expect(await candidates.next(2)).toEqual(first.slice(1));
  });
});
