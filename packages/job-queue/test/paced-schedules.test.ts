/** Schedules of the fleet's own tenant: missed times are skipped, runs keep their distance, a running one can be ended. */
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readCommand } from "../src/shard/request.ts";
import { isStatus } from "../src/shard/params.ts";
import { Bench, START } from "./support/bench.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NAME = "fleet/deposit/ada";

interface Schedule {
  readonly repeat: string;
  readonly firstRun: string;
  readonly leastMs?: number;
}

/** As the intake makes it. */
function scheduled(bench: Bench, { repeat, firstRun, leastMs = 900_000 }: Schedule): number {
  const data = JSON.stringify({ sealed: { batch: "a", leastIntervalMs: leastMs }, runs: 0 });
  const fields = { name: NAME, repeat, firstRun, data };
  const command = readCommand("CreateJob", fields, { tenant: "system", caller: { kind: "worker", worker: "w" } });
  if (isStatus(command) || command.verb !== "CreateJobs") throw new Error("no CreateJob");
  const jobs = command.jobs.map((job) => ({ ...job, seals: true as const }));
  const { content, status } = bench.run({ ...command, jobs });
  if (content.kind !== "ids") throw new Error(status.text);
  return content.ids[0]!;
}

/** When its runs began, of those due before `until`; each takes so long, and is taken so late. */
function runsOf(bench: Bench, id: number, most: number, pauses: readonly number[]): readonly number[] {
  const begun: number[] = [];
  for (let run = 0; run < most; run++) {
    const job = bench.shard.job(id);
    if (job?.state !== "QUEUED") break;
    const [late = 0, lasts = 0] = [pauses[(2 * run) % pauses.length], pauses[(2 * run + 1) % pauses.length]];
    bench.now = Math.max(bench.now, job.nextRun) + late;
    bench.run({ verb: "Tick" });
    begun.push(bench.now);
    const { token } = bench.get(NAME, { leaseMs: HOUR_MS }, "system");
    bench.now += lasts;
    expect(bench.ask("FinishJob", { jobID: id, lease: token }, "system")).toBe("200 OK");
  }
  return begun;
}

const distances = (times: readonly number[]): readonly number[] =>
  times.slice(1).map((at, n) => at - (times[n] ?? Number.NaN));

describe("a schedule of the fleet's own tenant", () => {
  test.each(["SCHEDULED, +1 HOUR", "FINISHED, +1 MONTH, -29 DAYS", "SCHEDULED, START OF DAY", "STARTED, -1 DAY"])(
    "%s with its first run long ago makes up for nothing",
    (repeat) => {
      const bench = new Bench();
      const begun = runsOf(bench, scheduled(bench, { repeat, firstRun: "2020-01-01 00:30:00" }), 20, [0]);
      expect(begun).toHaveLength(20);
      expect(Math.min(...distances(begun))).toBeGreaterThanOrEqual(900_000);
    },
  );

  test("keeps to its times after a pause of the whole fleet", () => {
    const bench = new Bench();
    const id = scheduled(bench, { repeat: "SCHEDULED, +1 DAY", firstRun: "2026-11-16 14:00:00" });
    runsOf(bench, id, 1, [10 * DAY_MS, 1_000]);
    // It ran ten days late, at 14:00 of the 26th.
    expect(new Date(bench.shard.job(id)!.nextRun).toISOString()).toBe("2026-11-27T14:00:00.000Z");
  });

  test("has a distance also where it holds none, or less than a second", () => {
    const bench = new Bench();
    const none = bench.create({ name: "fleet/purge", repeat: "FINISHED, +0 SECONDS" }, "system");
    bench.get("fleet/purge", {}, "system");
    bench.ask("FinishJob", { jobID: none }, "system");
    expect(bench.shard.job(none)!.nextRun).toBe(START + 1_000);
    const id = scheduled(bench, { repeat: "FINISHED, +0 SECONDS", firstRun: "2026-11-16 13:00:00", leastMs: 0 });
    expect(distances(runsOf(bench, id, 3, [0]))).toEqual([1_000, 1_000]);
  });

  test("of others than the fleet makes up for what it has missed, as the document says", () => {
    const bench = new Bench();
    const id = bench.create({ repeat: "SCHEDULED, +1 HOUR", firstRun: "2026-11-16 10:00:00" });
    bench.get();
    bench.ask("FinishJob", { jobID: id });
    expect(bench.query(id)["nextRun"]).toBe("2026-11-16 11:00:00");
  });

  const part = fc.oneof(
    fc
      .tuple(fc.constantFrom("+", "-"), fc.integer({ min: 0, max: 99 }), fc.constantFrom("SECOND", "MINUTE", "HOUR"))
      .map(([sign, amount, unit]) => `${sign}${amount} ${unit}S`),
    fc
      .tuple(fc.constantFrom("+", "-"), fc.integer({ min: 0, max: 40 }), fc.constantFrom("DAY", "MONTH", "YEAR"))
      .map(([sign, amount, unit]) => `${sign}${amount} ${unit}S`),
    fc.constantFrom("START OF HOUR", "START OF DAY", "START OF MONTH", "START OF YEAR", "WEEKDAY 1", "WEEKDAY 6"),
  );
  const repeat = fc
    .tuple(fc.constantFrom("SCHEDULED", "STARTED", "FINISHED"), fc.array(part, { minLength: 1, maxLength: 4 }))
    .map(([base, parts]) => [base, ...parts].join(", "));
  const firstRun = fc
    .date({ min: new Date("1970-01-01"), max: new Date("2030-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 19));
  const pauses = fc.array(fc.integer({ min: 0, max: 3 * DAY_MS }), { minLength: 1, maxLength: 6 });

  test("never has two runs closer than the least interval, whatever its repeat and however late its runs are", () => {
    const least = fc.integer({ min: 1_000, max: 2 * HOUR_MS });
    fc.assert(
      fc.property(repeat, firstRun, least, pauses, (...[each, first, leastMs, waits]) => {
        const bench = new Bench();
        const id = scheduled(bench, { repeat: each, firstRun: first, leastMs });
        for (const distance of distances(runsOf(bench, id, 12, waits)))
          expect(distance).toBeGreaterThanOrEqual(leastMs);
      }),
      { numRuns: 300, seed: 11 },
    );
  });
});

describe("DeleteJob with afterRun", () => {
  const ENDS = "202 It runs just now and will not repeat";

  test("of a job that runs: the run under way is its last, however it ends", () => {
    for (const verb of ["FinishJob", "RetryJob"]) {
      const bench = new Bench();
      const id = scheduled(bench, { repeat: "SCHEDULED, +1 HOUR", firstRun: "2026-11-16 13:00:00" });
      const { token } = bench.get(NAME, {}, "system");
      expect(bench.ask("DeleteJob", { jobID: id }, "system")).toBe("405 Can't delete a RUNNING job");
      expect(bench.ask("DeleteJob", { jobID: id, afterRun: "true" }, "system")).toBe(ENDS);
      expect(bench.ask("DeleteJob", { jobID: id, afterRun: "true" }, "system")).toBe(ENDS);
      bench.takeOver();
      expect(bench.shard.job(id)).toMatchObject({ state: "RUNNING", step: "cancelled: it will not repeat" });
      expect(bench.ask(verb, { jobID: id, lease: token, exitCode: 200 }, "system")).toBe("200 OK");
      expect(bench.shard.job(id)).toBeNull();
    }
  });

  test("of one that waits: it is gone", () => {
    const bench = new Bench();
    const id = scheduled(bench, { repeat: "SCHEDULED, +1 HOUR", firstRun: "2026-11-16 13:00:00" });
    expect(bench.ask("DeleteJob", { jobID: id, afterRun: "true" }, "system")).toBe("200 OK");
    expect(bench.shard.job(id)).toBeNull();
  });

  test("of a job with children that run: as without it", () => {
    const bench = new Bench();
    const id = bench.create({ name: "parent" });
    bench.get("parent");
    bench.create({ name: "child", parentJobID: id });
    bench.ask("FinishJob", { jobID: id });
    bench.get("child");
    expect(bench.ask("DeleteJob", { jobID: id, afterRun: "true" })).toBe(
      "405 Can't delete a parent jobs with children running",
    );
  });
});
