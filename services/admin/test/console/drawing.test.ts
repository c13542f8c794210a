/** What the console reckons before it draws: pure, and so tested without a browser. */
import { describe, expect, test } from "@jest/globals";
import { isMerritts, JOB_STATES, type JobState, jobRow, PIPELINE } from "@sluice/queue-core";
import type { Model, Overview } from "@sluice/wire";
import { ago, bytes, duration, withoutCode } from "../../console/src/format.ts";
import { remarksOn } from "../../console/src/home/attention.ts";
import { flowOf, levelOf } from "../../console/src/home/flow.ts";
import { minutesOf } from "../../console/src/home/samples.ts";
import { barsOf, ceilingOf, runsOf } from "../../console/src/ui/chart-shapes.ts";

const model: Model = {
  version: "test",
  pipeline: [...PIPELINE],
  job_states: JOB_STATES.map((state) => ({
    state,
    stage: jobRow(state).owner,
    says: "",
    actions: [],
    live: true,
    merritts: isMerritts(state),
  })),
  batch_states: [],
  job_actions: [],
  batch_actions: [],
  errors: [],
  schedules: false,
  development: false,
};
const jobs = (given: Partial<Record<JobState, number>> = {}): Record<JobState, number> => ({
  ...(Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>),
  ...given,
});
const stage = (patch: Partial<Overview["stages"][number]> = {}): Overview["stages"][number] => ({
  stage: "downloader",
  state: "Downloading",
  waiting: 0,
  ready: 0,
  exact: true,
  oldest_ready_seconds: 0,
  workers: 1,
  in_hand: 0,
  paused: null,
  ...patch,
});
const now = (patch: Partial<Overview> = {}): Overview => ({
  at: "2026-11-16T10:00:00.000Z",
  fleet_id: "fleet",
  jobs: jobs(),
  batches: {} as Overview["batches"],
  stages: [stage()],
  queue_paused: null,
  held_collections: [],
  space: null,
  failures: [],
  completed_per_minute: 0,
  failed_per_minute: 0,
  ...patch,
});

describe("the picture of the pipeline", () => {
  test.each([
    [true, 0],
    [false, 0],
    [true, 2],
    [false, 2],
  ])(
    "has every state once, and none upon another (tall: %s); Merritt's own if jobs are there (%d)",
    (tall, Storing) => {
      const { basins, width, height } = flowOf(model, now({ jobs: jobs({ Failed: 7, Storing }) }), tall);
      const shown = JOB_STATES.filter((state) => !isMerritts(state) || Storing > 0);
      expect(basins.map(({ state }) => state).sort()).toEqual([...shown].sort());
      expect(basins.find(({ state }) => state === "Failed")?.jobs).toBe(7);
      for (const [i, a] of basins.entries()) {
        expect([a.x >= 0, a.y >= 0, a.x + a.width <= width, a.y + a.height <= height]).toEqual([
          true,
          true,
          true,
          true,
        ]);
        for (const b of basins.slice(i + 1)) {
          const apart = a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y || b.y + b.height < a.y;
          expect([a.state, b.state, apart]).toEqual([a.state, b.state, true]);
        }
      }
    },
  );

  test("flows only while jobs are completed and nobody has paused it", () => {
    const flows = (patch: Partial<Overview>) => flowOf(model, now(patch), false).channels.some((way) => way.flowing);
    expect(flows({})).toBe(false);
    expect(flows({ completed_per_minute: 2 })).toBe(true);
    const queue_paused = { by: "olga", since: null, why: "", until: null };
    expect(flows({ completed_per_minute: 2, queue_paused })).toBe(false);
  });

  test("shows one job, and has room for ten thousand", () => {
    expect(levelOf(0)).toBe(0);
    expect(levelOf(1)).toBeGreaterThan(0.1);
    expect(levelOf(100)).toBeLessThan(levelOf(1_000));
    expect(levelOf(1_000_000)).toBe(1);
  });
});

describe("what should be looked at first", () => {
  test("is nothing when all is well", () => expect(remarksOn(now())).toEqual([]));

  test("is work without a worker, work that has waited long, and a full volume", () => {
    const space = { volume_bytes: 100, free_bytes: 10, reserved_bytes: 0, admit_below: 0.8 };
    const stages = [stage({ workers: 0, waiting: 3 }), stage({ stage: "recorder", oldest_ready_seconds: 3_600 })];
    expect(remarksOn(now({ stages, space })).map(({ text }) => text)).toEqual([
      "3 jobs wait for downloader, and no worker of it is running.",
      "The oldest ready job of recorder has waited for 1 h.",
      "The working volume is full up to its limit (10 B free): no job is admitted until others have ended.",
    ]);
  });
});

test("samples become the minutes of one hour: what ended is summed, what waits is the last look, gaps stay gaps", () => {
  const sample = (at: string, completed: number, Downloading: number) => ({
    at: `2026-11-16T10:${at}.000Z`,
    jobs: jobs({ Downloading, Failed: 9 }),
    completed,
    failed: 1,
    oldest_ready_seconds: Downloading,
  });
  const minutes = minutesOf([sample("00:10", 1, 5), sample("00:50", 2, 4), sample("02:00", 4, 3)], model);
  expect(minutes?.times.length).toBe(60);
  expect(minutes?.times.at(-1)).toBe("2026-11-16T10:02:00.000Z");
  expect(minutes?.completed.slice(-4)).toEqual([null, 3, null, 4]);
  expect(minutes?.failed.slice(-4)).toEqual([null, 2, null, 1]);
  expect(minutes?.waiting.slice(-4)).toEqual([null, 4, null, 3]);
  expect(minutes?.oldest.slice(-4)).toEqual([null, 4, null, 3]);
  expect(minutesOf([], model)).toBeNull();
});

test("lines break at gaps, bars stand upon each other, scales are round", () => {
  expect(runsOf([1, 2, null, 3, null])).toEqual([
    { from: 0, values: [1, 2] },
    { from: 3, values: [3] },
  ]);
  expect(barsOf([0, 2, null], [[5, 3, 1]], 10, 30, 100)).toEqual([{ x: 10, width: 8, y: 50, height: 20, value: 2 }]);
  expect([[], [1], [3], [12], [70]].map(ceilingOf)).toEqual([1, 1, 5, 20, 100]);
});

test("sizes, durations and times are in words", () => {
  expect([0, 999, 1_000, 1_500_000, 83_900_000_000].map(bytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "1.5 MB",
    "83.9 GB",
  ]);
  expect([0, 59, 60, 61, 3_600, 5_400, 200_000].map(duration)).toEqual([
    "0 s",
    "59 s",
    "1 min",
    "1 min 1 s",
    "1 h",
    "1 h 30 min",
    "2 d 7 h",
  ]);
  const at = Date.parse("2026-11-16T10:00:00Z");
  expect(["10:00:03", "09:57:30", "11:30:00"].map((time) => ago(`2026-11-16T${time}Z`, at))).toEqual([
    "just now",
    "2 min ago",
    "in 1 h",
  ]);
  expect(withoutCode("MINT_FAILED: given up after 5 attempts: no", "MINT_FAILED")).toBe(
    "given up after 5 attempts: no",
  );
  expect(withoutCode("Given by hand", null)).toBe("Given by hand");
});
