import { paths, releaseHold, setHold } from "@sluice/queue-core";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Duty, done } from "../src/index.ts";
import { downloading, World } from "./support/world.ts";

const operator = { name: "ops", reason: "a test" };
const pending: Duty = { kind: "job-stage", takes: "Pending", handle: () => Promise.resolve(done()) };
const download = downloading(() => Promise.resolve(done()));

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

describe("holds", () => {
  test("park a job of a held collection without working it, and let the others go on", async () => {
    await setHold(world.queue, operator, { kind: "collection", profile: "held_content" });
    const held = await world.addJob({ number: 1, state: "Pending", profile: "held_content" });
    const free = await world.addJob({ number: 2, state: "Pending" });
    let worked = 0;
    const { recorder } = world.start("batch-intake", [
      {
        kind: "job-stage",
        takes: "Pending",
        handle: () => {
          worked += 1;
          return Promise.resolve(done());
        },
      },
    ]);
    await recorder.settled(2);
    expect(await world.status(held)).toMatchObject({
      status: "Held",
      message: "collection held_content is held",
      last_successful_status: null,
    });
    expect(await world.status(free)).toMatchObject({ status: "Estimating" });
    expect(worked).toBe(1);
  });

  test("that come while a job is being worked are obeyed at its commit", async () => {
    const id = await world.addJob({ number: 1, state: "Pending" });
    const { recorder } = world.start("batch-intake", [
      {
        kind: "job-stage",
        takes: "Pending",
        handle: async () => {
          await setHold(world.queue, operator, { kind: "collection", profile: "demo_content" });
          return done();
        },
      },
    ]);
    expect(await recorder.settled()).toMatchObject([{ job: id, outcome: "park", to: "Held" }]);
  });

  test("of another collection that come meanwhile cost a second try, not the job", async () => {
    const id = await world.addJob({ number: 1, state: "Pending" });
    const { recorder } = world.start("batch-intake", [
      {
        kind: "job-stage",
        takes: "Pending",
        handle: async () => {
          await setHold(world.queue, operator, { kind: "collection", profile: "other" });
          return done();
        },
      },
    ]);
    expect(await recorder.settled()).toMatchObject([{ job: id, outcome: "done", to: "Estimating" }]);
  });
});

describe("claims are closed", () => {
  test.each([
    ["queue-paused", { kind: "queue" }],
    ["stage-paused", { kind: "stage", stage: "downloader" }],
  ] as const)("while an operator has it %s, and open again at once after", async (why, target) => {
    const { recorder } = world.start("downloader", [download], { IDLE_POLL_INTERVAL_MS: "600000" });
    await recorder.until("idle");
    await setHold(world.queue, operator, target);
    await recorder.until("closed", 1, (event) => event.why === why);
    const id = await world.addJob({ number: 1 });
    await recorder.until("closed", 3);
    expect(recorder.all("claimed")).toEqual([]);
    await releaseHold(world.queue, operator, target);
    expect(await recorder.settled()).toMatchObject([{ job: id }]);
  });

  test("for a worker that is drained, and not for the others", async () => {
    const drained = world.start("downloader", [download], { WORKER_ID: "tired" });
    await drained.recorder.until("idle");
    await world.write([{ op: "create", path: paths.drain("tired"), data: Buffer.from("{}") }]);
    await drained.recorder.until("closed", 1, ({ why }) => why === "drained");
    const other = world.start("downloader", [download]);
    await world.addJobs(5);
    await other.recorder.settled(5);
    expect(drained.recorder.all("claimed")).toEqual([]);
  });

  test("but a stage of another name goes on", async () => {
    await setHold(world.queue, operator, { kind: "stage", stage: "downloader" });
    const id = await world.addJob({ number: 1, state: "Pending" });
    const { recorder } = world.start("batch-intake", [pending]);
    expect(await recorder.settled()).toMatchObject([{ job: id, outcome: "done" }]);
  });
});
