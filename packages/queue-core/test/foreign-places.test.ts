/** Places of jobs that a writer without transactions left behind, or took away: no job of ours may be stuck for them. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  aBatchOfJobs,
  advance,
  type CdlCall,
  cdlLibrary,
  claimJob,
  openRawSession,
  type RawSession,
  testWorker,
  type TestWorker,
  testZooKeeper,
  type TestZooKeeper,
  tree,
  waitFor,
} from "@sluice/testkit";
import { actOnJob, type BatchId, type JobId, parseJobId, paths, putInPlace } from "../src/index.ts";

const OPERATOR = { name: "olga", reason: "because" };
const EMPTY = Buffer.alloc(0);

let zk: TestZooKeeper;
let intake: TestWorker;
let raw: RawSession;
let batch: BatchId;
let id: JobId;

beforeEach(async () => {
  zk = await testZooKeeper();
  intake = await testWorker(zk.connect, "batch-intake");
  raw = await openRawSession(zk.connect);
  const made = await aBatchOfJobs(intake, 1);
  batch = made.batch;
  id = made.jobs[0]!;
});
afterEach(async () => {
  await Promise.all([intake.close(), raw.close()]);
});

/** Where the job stands, in queues and buckets. */
async function places(): Promise<readonly string[]> {
  const all = await tree(raw, { except: /^\/(zookeeper|fleet|locks)/ });
  return Object.keys(all).filter((path) => path.endsWith(id) && path.includes("/states/"));
}

async function complete() {
  const notifier = await testWorker(zk.connect, "notifier");
  const loaded = await claimJob(notifier, "Notify", id);
  const result = await notifier.jobs.commit(loaded, { kind: "done", changes: {} });
  await notifier.close();
  return result;
}

/** Their recorder moves the job, and its process ends right before this call; the server ends its session. */
async function killedBefore(isLast: (call: CdlCall) => boolean): Promise<void> {
  const library = await cdlLibrary(zk.connect, {
    onCall: (call) => {
      if (isLast(call)) throw new Error("killed");
    },
  });
  const job = await library.acquireJob("Recording");
  await expect(job?.setStatus("Notify")).rejects.toThrow("killed");
  await library.close();
  await waitFor(async () => !(await raw.get(paths.jobLock(id))).ok, { what: "their lock gone" });
}

describe("a move", () => {
  test("takes a bucket entry that is there already for its own", async () => {
    await advance(zk.connect, id, "Notify");
    await raw.create(paths.bucketEntry(batch, "batch-completed", id), EMPTY);
    expect(await complete()).toMatchObject({ kind: "applied", to: "Completed" });
    expect(await places()).toEqual([
      paths.bucketEntry(batch, "batch-completed", id),
      paths.queueEntry("Completed", 5, id),
    ]);
  });

  test("misses no bucket entry that another one took away and did not put back", async () => {
    await advance(zk.connect, id, "Recording");
    const bucket = paths.bucketEntry(batch, "batch-processing", id);
    await killedBefore(({ op, path }) => op === "create" && path === bucket);
    expect(await places()).toEqual([paths.queueEntry("Notify", 5, id)]);
    expect(await complete()).toMatchObject({ kind: "applied", to: "Completed" });
    expect(await places()).toEqual([
      paths.bucketEntry(batch, "batch-completed", id),
      paths.queueEntry("Completed", 5, id),
    ]);
  });

  test("by an operator neither stops at a leftover nor at what is missing", async () => {
    await advance(zk.connect, id, "Notify");
    await raw.create(paths.bucketEntry(batch, "batch-failed", id), EMPTY);
    await raw.remove(paths.bucketEntry(batch, "batch-processing", id));
    expect(await actOnJob(intake.ctx, OPERATOR, "fail", id)).toEqual({ kind: "applied" });
    expect(await places()).toEqual([paths.bucketEntry(batch, "batch-failed", id), paths.queueEntry("Failed", 5, id)]);
  });
});

describe("a job in the wrong places", () => {
  const damage: readonly (readonly [string, () => Promise<void>])[] = [
    [
      "in no queue",
      async () => {
        await advance(zk.connect, id, "Recording");
        await killedBefore(({ op, path }) => op === "create" && path.startsWith("/jobs/states/notify/"));
      },
    ],
    [
      "in two queues",
      async () => {
        await advance(zk.connect, id, "Notify");
        await raw.create(paths.queueEntry("Recording", 5, id), EMPTY);
      },
    ],
    [
      "in no bucket",
      async () => {
        await advance(zk.connect, id, "Notify");
        await raw.remove(paths.bucketEntry(batch, "batch-processing", id));
      },
    ],
    [
      "in two buckets",
      async () => {
        await advance(zk.connect, id, "Notify");
        await raw.create(paths.bucketEntry(batch, "batch-completed", id), EMPTY);
      },
    ],
  ];

  test.each(damage)("%s is put into the right ones", async (_what, harm) => {
    await harm();
    expect(await putInPlace(intake.ctx, id)).toEqual({ kind: "mended" });
    expect(await places()).toEqual([
      paths.bucketEntry(batch, "batch-processing", id),
      paths.queueEntry("Notify", 5, id),
    ]);
    expect(await putInPlace(intake.ctx, id)).toEqual({ kind: "in-place" });
  });

  test("is left alone while somebody has it in hand: a move without a transaction may be on its way", async () => {
    await advance(zk.connect, id, "Recording");
    const library = await cdlLibrary(zk.connect);
    await library.acquireJob("Recording");
    await raw.create(paths.queueEntry("Notify", 5, id), EMPTY);
    const before = await places();
    expect(await putInPlace(intake.ctx, id)).toEqual({ kind: "in-hand" });
    expect(await places()).toEqual(before);
    await library.close();
  });

  test("is left alone when it was never this fleet's, or is gone", async () => {
    await raw.remove(paths.fleetJob(id));
    await raw.create(paths.bucketEntry(batch, "batch-failed", id), EMPTY);
    const before = await places();
    expect(await putInPlace(intake.ctx, id)).toEqual({ kind: "foreign" });
    expect(await places()).toEqual(before);
    expect(await putInPlace(intake.ctx, parseJobId("jid0000099999")!)).toEqual({ kind: "gone" });
  });

  test("that is over is not put back into a queue that it has left", async () => {
    await advance(zk.connect, id, "Notify");
    expect(await complete()).toMatchObject({ kind: "applied" });
    await raw.remove(paths.queueEntry("Completed", 5, id));
    await raw.create(paths.bucketEntry(batch, "batch-processing", id), EMPTY);
    expect(await putInPlace(intake.ctx, id)).toEqual({ kind: "mended" });
    expect(await places()).toEqual([paths.bucketEntry(batch, "batch-completed", id)]);
  });
});
