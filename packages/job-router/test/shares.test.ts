/** Who gets how much of the workers' time: several processes pick, each with what the owner told some time ago. Time is made up. */
import { describe, expect, test } from "@jest/globals";
import { EXPECTED_MS, FairScheduler, type TenantUsage, Usage, type WaitingType } from "@sluice/job-queue";
import { Charges } from "../src/take/charges.ts";

const TERM = "1.1";
/** As often as an owner tells its peers. */
const TOLD_MS = 200;

interface Kind {
  readonly tenant: string;
  readonly ms: number;
}

interface Run extends Kind {
  readonly began: number;
  readonly picker: Picker;
}

/** One process that picks. */
class Picker {
  readonly #scheduler: FairScheduler;
  readonly #charges = new Charges();
  #heard: readonly TenantUsage[] = [];
  #heardAt = -Infinity;
  readonly #isFar: boolean;

  constructor(isFar: boolean, tenantWeights: ReadonlyMap<string, number> = new Map()) {
    this.#isFar = isFar;
    this.#scheduler = new FairScheduler({ tenantWeights });
  }

  pick(waiting: readonly string[], usage: Usage, now: number): string {
    if (!this.#isFar || now - this.#heardAt >= TOLD_MS) {
      this.#heard = waiting.map((tenant) => usage.of(tenant, now));
      this.#heardAt = now;
    }
    for (const each of this.#heard) {
      const runningMs = each.runningMs + each.running * (now - this.#heardAt);
      if (waiting.includes(each.tenant))
        this.#scheduler.charge(each.tenant, this.#charges.due(TERM, { ...each, runningMs }));
    }
    const types = waiting.map((tenant): WaitingType => ({ tenant, name: "x", count: 1e6, priority: 500, since: 0 }));
    const picked = this.#scheduler.pick(types, now, (tenant) => this.#charges.meanOf(tenant) ?? EXPECTED_MS)!.tenant;
    this.#charges.picked(picked);
    usage.jobsStarted(picked, now);
    this.#charges.answered(TERM, picked, 1, 1);
    return picked;
  }
}

interface Course {
  readonly pickers: readonly Picker[];
  readonly slots: number;
  readonly kinds: readonly Kind[];
  readonly ms: number;
}

/** Workers that are never idle, each slot with one of the processes. The worker time of each tenant. */
function shares({ pickers, slots, kinds, ms }: Course): ReadonlyMap<string, number> {
  const usage = new Usage();
  const waiting = kinds.map(({ tenant }) => tenant);
  const running: Run[] = [];
  const begin = (picker: Picker, now: number): void => {
    const tenant = picker.pick(waiting, usage, now);
    running.push({ ...kinds.find((kind) => kind.tenant === tenant)!, began: now, picker });
  };
  for (let slot = 0; slot < slots; slot++) begin(pickers[slot % pickers.length]!, 0);
  for (let now = 0; now < ms;) {
    running.sort((a, b) => a.began + a.ms - (b.began + b.ms));
    const { tenant, began, ms: took, picker } = running.shift()!;
    now = began + took;
    usage.jobsStopped(tenant, began, now);
    begin(picker, now);
  }
  return new Map(usage.all(ms).map(({ tenant, endedMs, runningMs }) => [tenant, endedMs + runningMs]));
}

const HEAVY = { tenant: "heavy", ms: 10_000 };
const LIGHT = { tenant: "light", ms: 100 };
const course = { slots: 8, kinds: [HEAVY, LIGHT], ms: 200_000 };
const total = course.slots * course.ms;

describe("worker time", () => {
  test.each([
    ["one process", [new Picker(false)]],
    ["one process that hears of it later", [new Picker(true)]],
    ["three processes, two of which hear of it later", [new Picker(false), new Picker(true), new Picker(true)]],
  ])("is shared alike by jobs of 10 s and of 100 ms, picked by %s", (_, pickers) => {
    const got = shares({ ...course, pickers });
    expect(got.get("heavy")! / total).toBeGreaterThan(0.35);
    expect(got.get("light")! / total).toBeGreaterThan(0.35);
  });

  test("follows the tenants' weights", () => {
    const weights = new Map([["light", 3]]);
    const got = shares({ ...course, pickers: [new Picker(false, weights), new Picker(true, weights)] });
    expect(got.get("light")! / total).toBeGreaterThan(0.6);
    expect(got.get("heavy")! / total).toBeGreaterThan(0.15);
  });

  test("goes to whoever is alone", () => {
    expect(shares({ ...course, kinds: [HEAVY], pickers: [new Picker(true)] }).get("heavy")).toBeGreaterThan(
      0.9 * total,
    );
  });
});

describe("one process that picks", () => {
  test("charges what another one took, once it has heard of it, and not what was before", () => {
    const [usage, picker] = [new Usage(), new Picker(false)];
    for (let n = 0; n < 100; n++) usage.jobsStarted("before", 0);
    const both = ["before", "other"];
    expect(new Set([picker.pick(both, usage, 0), picker.pick(both, usage, 0)])).toEqual(new Set(both));
    for (let n = 0; n < 5; n++) usage.jobsStarted("other", 0);
    const picked = Array.from({ length: 6 }, () => picker.pick(both, usage, 0));
    expect(picked.filter((tenant) => tenant === "before").length).toBeGreaterThanOrEqual(5);
  });

  test("gives a newcomer its turn at once, whatever the others' jobs have cost", () => {
    const [usage, picker] = [new Usage(), new Picker(true)];
    const others = Array.from({ length: 20 }, (_, n) => `t${n}`);
    for (let now = 0; now < 50_000; now += 50) picker.pick(others, usage, now);
    const picked = Array.from({ length: 21 }, () => picker.pick([...others, "new"], usage, 50_000));
    expect(picked).toContain("new");
  });
});

describe("charges", () => {
  const told = (over: Partial<TenantUsage>): TenantUsage => ({
    tenant: "t",
    started: 0,
    running: 0,
    endedMs: 0,
    runningMs: 0,
    meanMs: 100,
    ...over,
  });

  test("count our own picks once: as picked, as given, and as told by the owner", () => {
    const charges = new Charges();
    expect(charges.due(TERM, told({}))).toBe(0);
    for (let n = 0; n < 3; n++) charges.picked("t");
    // The owner has decided, and its answer is on its way.
    expect(charges.due(TERM, told({ started: 3, running: 3 }))).toBe(0);
    charges.answered(TERM, "t", 3, 2);
    expect(charges.due(TERM, told({ started: 2, running: 2 }))).toBe(-100);
    expect(charges.due(TERM, told({ started: 3, running: 3 }))).toBe(100);
    expect(charges.due(TERM, told({ started: 3, endedMs: 250 }))).toBe(-50);
  });

  test("begin anew with a new term of the owner, and with an owner that has forgotten", () => {
    const charges = new Charges();
    charges.due(TERM, told({ started: 5, endedMs: 500 }));
    charges.picked("t");
    expect(charges.due("1.2", told({ started: 1, running: 1 }))).toBe(0);
    charges.answered(TERM, "t", 1, 1);
    expect(charges.due("1.2", told({ started: 2, running: 2 }))).toBe(100);
    expect(charges.due("1.2", told({ started: 0 }))).toBe(0);
  });
});
