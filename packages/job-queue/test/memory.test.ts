import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { ReadyIndex, type Slot, type Wanted } from "../src/memory/ready-index.ts";
import { Waiters } from "../src/memory/waiters.ts";
import { matchesName, parseNames } from "../src/names.ts";

const NAMES = ["mail", "mail/urgent", "report"];
const PRIORITIES = [0, 500, 1000];
const PATTERNS = ["mail", "mail*", "*", "report,mail", "nothing"];

const slot = (id: number, over: Partial<Slot> = {}): Slot => ({
  at: -1,
  heap: null,
  id,
  tenant: "default",
  name: "mail",
  mock: false,
  priority: 500,
  nextRun: 0,
  ...over,
});
const wanted = (names: string, over: Partial<Wanted> = {}): Wanted => ({
  tenant: "default",
  names: parseNames(names),
  priority: null,
  mocked: false,
  ...over,
});

/** The plainest thing that could be right: all jobs in a list, filtered and sorted at every question. */
function naiveBest(slots: Iterable<Slot>, want: Wanted, now: number): number | null {
  const fits = [...slots].filter(
    (each) =>
      each.tenant === want.tenant &&
      each.nextRun <= now &&
      (want.mocked || !each.mock) &&
      (want.priority === null || want.priority === each.priority) &&
      matchesName(want.names, each.name),
  );
  fits.sort((a, b) => b.priority - a.priority || a.nextRun - b.nextRun || a.id - b.id);
  return fits[0]?.id ?? null;
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant("add" as const),
    tenant: fc.constantFrom("default", "other"),
    name: fc.constantFrom(...NAMES),
    mock: fc.boolean(),
    priority: fc.constantFrom(...PRIORITIES),
    nextRun: fc.nat(60),
  }),
  fc.record({ kind: fc.constant("remove" as const), nth: fc.nat(30) }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(20) }),
  fc.record({
    kind: fc.constant("take" as const),
    names: fc.constantFrom(...PATTERNS),
    priority: fc.constantFrom(null, null, ...PRIORITIES),
    mocked: fc.boolean(),
    tenant: fc.constantFrom("default", "other"),
  }),
);

describe("the index", () => {
  test.each([
    ["few names", undefined],
    ["many names, and more patterns than are kept", { lookedAt: 0, patternsKept: 2 }],
  ])("D3, D4: gives what a sorted list of all jobs would give, whatever came and went before (%s)", (_, bounds) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const index = new ReadyIndex(bounds);
        const model = new Map<number, Slot>();
        let now = 0;
        let id = 0;
        for (const each of steps) {
          if (each.kind === "add") {
            const added = slot(++id, each);
            model.set(id, added);
            index.add(added, now);
          } else if (each.kind === "remove") {
            const gone = [...model.values()][each.nth % Math.max(1, model.size)];
            if (gone !== undefined) index.remove(gone);
            model.delete(gone?.id ?? 0);
          } else if (each.kind === "pass") {
            index.promote((now += each.ms));
          } else {
            const want = wanted(each.names, { priority: each.priority, mocked: each.mocked, tenant: each.tenant });
            const best = index.best(want);
            expect(best?.id ?? null).toBe(naiveBest(model.values(), want, now));
            if (best !== null) index.remove(best);
            model.delete(best?.id ?? 0);
          }
          const future = [...model.values()].filter(({ nextRun }) => nextRun > now).map(({ nextRun }) => nextRun);
          expect(index.nextDue()).toBe(future.length === 0 ? null : Math.min(...future));
        }
        const due = [...model.values()].filter(({ nextRun, mock }) => nextRun <= now && !mock);
        expect(index.waitingTypes().reduce((sum, { count }) => sum + count, 0)).toBe(due.length);
      }),
      { numRuns: 300 },
    );
  });

  test("tells what became due, and only once", () => {
    const index = new ReadyIndex();
    for (const [id, nextRun] of [
      [1, 10],
      [2, 5],
      [3, 20],
    ] as const)
      index.add(slot(id, { nextRun }), 0);
    expect(index.promote(10).map(({ id }) => id)).toEqual([2, 1]);
    expect(index.promote(10)).toEqual([]);
  });
});

describe("waiters", () => {
  const offered = { tenant: "default", name: "mail", mock: false, priority: 500 };

  test("are served in the order in which they came, if they want it", () => {
    const waiters = new Waiters<string>();
    waiters.add(wanted("report"), 10, "other name");
    waiters.add(wanted("mail", { priority: 0 }), 10, "other priority");
    waiters.add(wanted("mail", { tenant: "other" }), 10, "other tenant");
    const first = waiters.add(wanted("m*"), 10, "first");
    waiters.add(wanted("mail"), 10, "second");
    expect(waiters.firstFor(offered)?.value).toBe("first");
    waiters.remove(first);
    waiters.remove(first);
    expect(waiters.firstFor(offered)?.value).toBe("second");
    expect(waiters.firstFor({ ...offered, mock: true })).toBeNull();
    expect(waiters.size).toBe(4);
  });

  test("go when their time is over, in the order of their deadlines", () => {
    const waiters = new Waiters<number>();
    for (const deadline of [30, 10, 20]) waiters.add(wanted("mail"), deadline, deadline);
    expect(waiters.nextDeadline()).toBe(10);
    expect(waiters.expire(20).map(({ value }) => value)).toEqual([10, 20]);
    expect(waiters.all().map(({ value }) => value)).toEqual([30]);
  });
});
