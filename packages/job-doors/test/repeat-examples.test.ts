/** What the document says about repeating, by a clock that is set by hand. */
import { describe, expect, test } from "@jest/globals";
import { showTime } from "@sluice/job-queue";
import { MemoryQueue } from "./support/memory-queue.ts";
import { contentOf, WireTalk } from "./support/wire-talk.ts";

const MINUTE_MS = 60_000;

interface Run {
  /** When the job was to run, when it did, and how long that took. */
  readonly due: string;
  readonly lateMs: number;
  readonly tookMs: number;
}

/** When a job runs again that is run once like this. Leases are renewed as long as the connection lives. */
async function nextRun(repeat: string, { due, lateMs, tookMs }: Run): Promise<string> {
  const queue = new MemoryQueue(due);
  const nc = new WireTalk(queue);
  await nc.say("CreateJob", "name: foo", `firstRun: ${due}`, `repeat: ${repeat}`);
  await queue.pass(lateMs);
  expect(contentOf(await nc.say("GetJob", "name: foo", `leaseMs: ${60 * MINUTE_MS}`))).toMatchObject({ jobID: 1 });
  await queue.pass(tookMs);
  expect(await nc.say("FinishJob", "jobID: 1")).toBe("200 OK\n\n");
  const { nextRun: next } = contentOf(await nc.say("QueryJob", "jobID: 1", "fields: all")) as { nextRun: string };
  await queue.pass(Date.parse(`${next.replace(" ", "T")}Z`) - queue.now - 1);
  expect(await nc.say("GetJob", "name: foo")).toBe("404 No job found\n\n");
  await queue.pass(1);
  expect(contentOf(await nc.say("GetJob", "name: foo"))).toMatchObject({ jobID: 1 });
  return next;
}

describe("the document's three repeat bases: due at 13:00, started at 13:15, done at 13:45", () => {
  const run = { due: "2026-11-16 13:00:00", lateMs: 15 * MINUTE_MS, tookMs: 30 * MINUTE_MS };
  test.each([
    ["SCHEDULED, +1 HOUR", "2026-11-16 14:00:00"],
    ["STARTED, +1 HOUR", "2026-11-16 14:15:00"],
    ["FINISHED, +1 HOUR", "2026-11-16 14:45:00"],
  ])("%s runs again at %s", async (repeat, next) => {
    expect(await nextRun(repeat, run)).toBe(next);
  });
});

describe("the document's repeat examples", () => {
  // A Wednesday.
  const run = { due: "2026-11-18 09:30:00", lateMs: 0, tookMs: 5 * MINUTE_MS };
  test.each([
    ["FINISHED, +1 HOUR", "2026-11-18 10:35:00"],
    ["FINISHED, +1 DAY, START OF DAY, +4 HOURS", "2026-11-19 04:00:00"],
    ["FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +6 HOURS", "2026-11-23 06:00:00"],
  ])("%s runs again at %s", async (repeat, next) => {
    expect(await nextRun(repeat, run)).toBe(next);
  });

  test("SCHEDULED, +1 HOUR runs every hour, and what was missed back to back", async () => {
    const queue = new MemoryQueue("2026-11-16 13:00:00");
    const nc = new WireTalk(queue);
    await nc.say("CreateJob", "name: foo", "firstRun: 2026-11-16 13:00:00", "repeat: SCHEDULED, +1 HOUR");
    await queue.pass(3 * 60 * MINUTE_MS + MINUTE_MS);
    const runs: unknown[] = [];
    for (let n = 0; n < 4; n++) {
      const { nextRun: due } = contentOf(await nc.say("GetJob", "name: foo", "fields: all")) as { nextRun: string };
      runs.push(due);
      await nc.say("FinishJob", "jobID: 1");
    }
    expect(runs).toEqual(["13", "14", "15", "16"].map((hour) => `2026-11-16 ${hour}:00:00`));
    expect(await nc.say("GetJob", "name: foo")).toBe("404 No job found\n\n");
    expect(showTime(queue.now)).toBe("2026-11-16 16:01:00");
  });
});

describe("the document's canned schedules count from the finish", () => {
  const run = { due: "2026-11-16 13:00:00", lateMs: 0, tookMs: 30 * MINUTE_MS };
  test.each([
    ["HOURLY", "2026-11-16 14:30:00"],
    ["DAILY", "2026-11-17 13:30:00"],
    ["WEEKLY", "2026-11-23 13:30:00"],
  ])("%s runs again at %s", async (repeat, next) => {
    expect(await nextRun(repeat, run)).toBe(next);
  });
});
