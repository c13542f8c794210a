import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { WaitingType } from "../src/memory/ready-index.ts";
import { EXPECTED_MS, Usage } from "../src/memory/usage.ts";
import { FairScheduler, typeKey } from "../src/scheduler.ts";

const type = (tenant: string, over: Partial<WaitingType> = {}): WaitingType => ({
  tenant,
  name: "x",
  count: 1,
  priority: 500,
  since: 0,
  ...over,
});

function turns(scheduler: FairScheduler, waiting: readonly WaitingType[], picks: number): readonly string[] {
  return Array.from({ length: picks }, () => {
    const picked = scheduler.pick(waiting, 0);
    return picked === null ? "-" : typeKey(picked.tenant, picked.name);
  });
}

describe("the scheduler", () => {
  test("M24: selectJobtypeToRun answers one of the types, or none where none waits", () => {
    const scheduler = new FairScheduler();
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom("a/x", "a/y", "b/x", "c/x/y"), { maxLength: 4 }), (types) => {
        const picked = scheduler.selectJobtypeToRun(types, { "a/x": 3 });
        expect(types.length === 0 ? picked === null : types.some((each) => each === picked)).toBe(true);
      }),
    );
    expect(scheduler.selectJobtypeToRun(["a/x"], { "a/x": 0 })).toBeNull();
  });

  test("M24: running counts follow starts and stops, and are never negative", () => {
    const usage = new Usage();
    for (const began of [0, 10]) usage.jobsStarted("a", began);
    expect(usage.of("a", 30)).toMatchObject({ started: 2, running: 2, endedMs: 0, runningMs: 50, meanMs: EXPECTED_MS });
    usage.jobsStopped("a", 10, 40);
    expect(usage.of("a", 50)).toMatchObject({ started: 2, running: 1, endedMs: 30, runningMs: 50, meanMs: 30 });
    for (const now of [60, 70]) usage.jobsStopped("a", 0, now);
    expect(usage.of("a", 90)).toMatchObject({ started: 2, running: 0, endedMs: 90, runningMs: 0 });
    expect(usage.all(90)).toEqual([usage.of("a", 90)]);
  });

  test("charges move a tenant back, by no more than a bound, and never before whose turn it is", () => {
    const scheduler = new FairScheduler();
    const both = [type("a"), type("b")];
    turns(scheduler, both, 2);
    scheduler.charge("a", 3);
    expect(turns(scheduler, both, 5)).toEqual(["b/x", "b/x", "b/x", "a/x", "b/x"]);
    scheduler.charge("b", -1_000);
    expect(turns(scheduler, both, 3).filter((key) => key === "b/x").length).toBeLessThanOrEqual(2);
    scheduler.charge("a", 1_000_000_000);
    const next = Array.from({ length: 110 }, () => scheduler.pick(both, 0, () => 100)?.tenant);
    expect(next.slice(0, 95)).not.toContain("a");
    expect(next).toContain("a");
  });

  test("M25: a tenant with one job behind 49 with any number of jobs has its turn within 50 picks, whenever it comes", () => {
    fc.assert(
      fc.property(fc.nat(200), (before) => {
        const scheduler = new FairScheduler();
        const large = Array.from({ length: 49 }, (_, n) => type(`large-${n}`, { count: 100_000 }));
        turns(scheduler, large, before);
        expect(turns(scheduler, [...large, type("small")], 50)).toContain("small/x");
      }),
      { numRuns: 50 },
    );
  });

  test("M25: nobody waits longer than ceil(W/w) picks and one for each of the others, with any weights and while they come and go", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 6 }),
        fc.array(fc.nat(63), { minLength: 60, maxLength: 60 }),
        (weights, presences) => {
          const tenantWeights = new Map(weights.map((weight, n) => [`t${n}`, weight]));
          const scheduler = new FairScheduler({ tenantWeights });
          const total = weights.reduce((sum, weight) => sum + weight, 0);
          const waited = weights.map(() => 0);
          let longest = 0;
          for (const mask of presences) {
            const present = weights.flatMap((_, n) => ((mask >> n) & 1 ? [type(`t${n}`)] : []));
            const picked = scheduler.pick(present, 0)?.tenant;
            weights.forEach((weight, n) => {
              const waits = present.some(({ tenant }) => tenant === `t${n}`) && picked !== `t${n}`;
              waited[n] = waits ? waited[n]! + 1 : 0;
              longest = Math.max(longest, (waited[n] ?? 0) - Math.ceil(total / weight));
            });
          }
          expect(longest).toBeLessThan(weights.length);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("M25: gives weights their share, and everything to who is alone", () => {
    const scheduler = new FairScheduler({ tenantWeights: new Map([["a", 3]]) });
    const picks = turns(scheduler, [type("a"), type("b")], 400);
    expect(picks.filter((key) => key === "a/x")).toHaveLength(300);
    expect(new Set(turns(scheduler, [type("b")], 20))).toEqual(new Set(["b/x"]));
    // b was alone for a while, and owes a nothing for it.
    expect(turns(scheduler, [type("a"), type("b")], 8).filter((key) => key === "b/x").length).toBeGreaterThanOrEqual(1);
  });

  test("serves a tenant's highest priority first, its types in turn, and before all what has waited for a day", () => {
    const scheduler = new FairScheduler();
    const low = type("a", { name: "low", priority: 0 });
    const types = [low, type("a", { name: "p" }), type("a", { name: "q" })];
    expect(turns(scheduler, types, 4)).toEqual(["a/p", "a/q", "a/p", "a/q"]);
    expect(
      scheduler.pick(
        types.map((each) => ({ ...each, since: 0 })),
        25 * 3_600_000,
      ),
    ).not.toBeNull();
    expect(scheduler.pick([low, type("a", { name: "p", since: 24 * 3_600_000 })], 25 * 3_600_000)).toBe(low);
  });
});
