/** Whatever breaks in the engine, no job, batch or object stays locked by a session that no longer works on it. */
import { batchUuidFromRandom, createBatch, makeIdBlocks, paths, records, type BatchId } from "@sluice/queue-core";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { connectSession } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";
import { type BatchStage, done, silentLog } from "../src/index.ts";
import { letGo } from "../src/engine/let-go.ts";
import { unseenMetrics } from "../src/observe/metrics.ts";
import { contextOf, downloading, World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

const ARK = "ark:/99999/fk4x";
const ACTOR = { stage: "downloader", worker: "w" };

async function addBatch(): Promise<BatchId> {
  const submission = records.submission.decode(Buffer.from(JSON.stringify({ profile_name: "demo_content" })));
  if (!submission.ok) throw new Error(submission.problem);
  const made = await createBatch(world.queue, makeIdBlocks(world.queue), {
    uuid: batchUuidFromRandom(randomBytes(16)),
    submission: submission.value,
    epoch: 1,
  });
  if (made.kind !== "created") throw new Error(made.kind);
  return made.id;
}

const starting = (handle: BatchStage["handle"]): BatchStage => ({ kind: "batch-stage", takes: "Pending", handle });

describe("a defect of the engine", () => {
  test("at the commit of a job counts as an attempt, and lets go of the job and its objects", async () => {
    const id = await world.addJob({ number: 1 });
    const stage = downloading(async (job, ctx) => {
      if (job.attempt === 1) expect(await ctx.lockObjects([{ kind: "storage", ark: ARK }])).toBe(true);
      return done();
    });
    const { recorder } = world.start("downloader", [stage], { FAILPOINTS: "downloader.beforeCommit=throw#1" });
    const [settled] = await recorder.settled();
    expect(settled).toMatchObject({ job: id, outcome: "retry" });
    expect(await world.data(paths.storageLock(ARK))).toBeNull();
    expect((await recorder.settled(2))[1]).toMatchObject({ job: id, outcome: "done" });
  });

  test("after the commit of a job changes nothing about it", async () => {
    const id = await world.addJob({ number: 1 });
    const { recorder } = world.start("downloader", [downloading(() => Promise.resolve(done()))], {
      FAILPOINTS: "downloader.afterCommit=throw#1",
    });
    await recorder.until("idle", recorder.all("idle").length + 2);
    expect(recorder.all("settled")).toMatchObject([{ job: id, outcome: "done" }]);
  });

  test("at the commit of a batch lets go of it, as an attempt", async () => {
    const id = await addBatch();
    const attempts: number[] = [];
    const stage = starting((batch) => {
      attempts.push(batch.attempt);
      return Promise.resolve({ kind: "start", rows: 0, digest: "" });
    });
    const { recorder } = world.start("batch-intake", [stage], { FAILPOINTS: "batch-intake.beforeBatchCommit=throw#1" });
    await recorder.until("item", 1, ({ outcome }) => outcome === "defect");
    expect(await world.data(paths.batchLock(id))).toBeNull();
    await recorder.until("item", 1, ({ outcome }) => outcome === "start");
    expect(attempts).toEqual([1, 2]);
  });
});

describe("a lock that cannot be let go", () => {
  test("of a batch ends the session, and the next one works the batch", async () => {
    const id = await addBatch();
    const entry = paths.fleetBatch("Pending", id);
    let turns = 0;
    const stage = starting(async () => {
      if (++turns > 1) return { kind: "start", rows: 0, digest: "" };
      // Something below the entry: neither the move nor the release can replace it.
      await world.write([{ op: "create", path: `${entry}/odd`, data: Buffer.alloc(0) }]);
      return { kind: "start", rows: 0, digest: "" };
    });
    const { recorder } = world.start("batch-intake", [stage]);
    await recorder.until("session", 1, ({ state }) => state === "ended");
    await waitFor(async () => (await world.data(paths.batchLock(id))) === null);
    await world.write([{ op: "delete", path: `${entry}/odd`, version: 0 }]);
    await recorder.until("item", 1, ({ outcome }) => outcome === "start");
  });

  test("of a job is tried again, and goes with its session in the end", async () => {
    const session = await connectSession({ connect: world.connect, timeoutMs: 10_000 });
    const queue = contextOf(session);
    const lock = paths.jobLock(await world.addJob({ number: 1 }));
    await session.multi([{ op: "create", path: lock, data: Buffer.alloc(0), ephemeral: true }]);
    let tries = 0;
    const scope = { queue, log: silentLog(), metrics: unseenMetrics(), actor: ACTOR };
    const refused = () => Promise.resolve({ kind: ++tries > 0 ? "refused" : "applied" });
    expect(await letGo(scope, {}, refused)).toEqual({ kind: "lost" });
    expect(tries).toBe(3);
    expect(await world.data(lock)).toBeNull();
  });
});
