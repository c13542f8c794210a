/** A program with CDL's library beside the fleet tells nobody what it does: the reporter finds it out. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import {
  type BatchId,
  beginBeside,
  type JobId,
  parseBatchId,
  parseJobId,
  paths,
  readBatch,
  readJob,
  records,
} from "@sluice/queue-core";
import type { Sweep, SweepContext } from "@sluice/stage-runtime";
import {
  aBatchOfJobs,
  advance,
  cdlLibrary,
  type CdlLibrary,
  claimJob,
  consumeOne,
  testWorker,
  type TestWorker,
  testZooKeeper,
  type TestZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { besideSweep } from "../src/sweeps/beside.ts";
import { handlerContext } from "./support.ts";

let zk: TestZooKeeper;
let intake: TestWorker;
let reporter: TestWorker;
let library: CdlLibrary;
let found: string[];
let beside: Sweep;

beforeEach(async () => {
  zk = await testZooKeeper();
  intake = await testWorker(zk.connect, "batch-intake");
  reporter = await testWorker(zk.connect, "reporter");
  library = await cdlLibrary(zk.connect);
  found = [];
  beside = besideSweep(0, (what) => found.push(what));
  expect(await beginBeside(intake.ctx, { name: "olga", reason: "as a test" }, "recorder")).toEqual({ kind: "applied" });
});
afterEach(async () => {
  await Promise.all([intake.close(), reporter.close(), library.close()]);
});

const SUBMISSION = { profile: "sluice_demo_content", type: "file", payload_url: "http://127.0.0.1:9/x" };
const CONFIGURATION = { profile_name: "sluice_demo_content", submitter: "a", payload_url: "http://127.0.0.1:9/x" };

async function sweep(): Promise<readonly string[]> {
  found.length = 0;
  const ctx: SweepContext = { ...handlerContext(), queue: reporter.ctx, worker: reporter.actor.worker };
  await beside.run(ctx);
  return found;
}

async function text(path: string): Promise<string | null> {
  const node = await reporter.session.get(path);
  return node.ok ? node.value.data.toString() : null;
}

/** Its batch, up to where its own intake says that all jobs are made. */
async function theirBatch(jobs: number): Promise<{ batch: BatchId; jobs: readonly JobId[] }> {
  const made = await library.createBatch(SUBMISSION);
  const batch = (await library.acquirePendingBatch())!;
  const ids: JobId[] = [];
  for (let i = 0; i < jobs; i++) ids.push(parseJobId((await library.createJob(made.id, CONFIGURATION)).id)!);
  await batch.setStatus("Reporting");
  await batch.unlock();
  return { batch: parseBatchId(made.id)!, jobs: ids };
}

test("a batch that it only submits is expanded by our intake, with the directories that it lacks", async () => {
  const made = await library.createBatch({ ...SUBMISSION, batchID: "bid-5f0d7f3e-0000-4000-8000-000000000012" });
  const id = parseBatchId(made.id)!;
  expect(await sweep()).toEqual(["batch"]);
  expect(await sweep()).toEqual([]);
  const claim = await intake.batches.claim("Pending", id);
  if (claim.kind !== "acquired") throw new Error(JSON.stringify(claim));
  expect(claim.loaded.batch.submission).toMatchObject({ ...SUBMISSION, epoch: intake.identity.epoch });
  const started = await intake.batches.settle(claim.loaded, { kind: "start", rows: 1, digest: "" });
  expect(started).toEqual({ kind: "applied", to: "Processing" });
  expect(await reporter.session.children(paths.batchStates(id))).toMatchObject({
    value: { names: expect.arrayContaining(["batch-processing", "batch-failed", "batch-completed", "batch-deleted"]) },
  });
  // Neither is it taken by the library's own intake any more.
  expect(await library.acquirePendingBatch()).toBeNull();
});

test("a batch of which it has made all jobs is worked, and reported when all have ended", async () => {
  const { batch, jobs } = await theirBatch(3);
  // One is in hand already: it has its history from the claim.
  await claimJob(intake, "Pending", jobs[0]!);
  expect(await sweep()).toEqual(["batch"]);
  const view = await readBatch(reporter.session, batch);
  expect(view).toMatchObject({
    value: {
      status: { status: "Processing" },
      submission: { epoch: intake.identity.epoch },
      expansion: { rows: 3, created: 3 },
      counts: { "batch-processing": 3 },
    },
  });
  for (const id of jobs) {
    const job = await readJob(reporter.session, id);
    expect(job).toMatchObject({ value: { configuration: { epoch: intake.identity.epoch } } });
    const kinds = job.kind === "found" ? job.value.history?.events.map(([, , kind]) => kind) : [];
    expect(kinds).toEqual(["adopt"]);
  }
  expect(await sweep()).toEqual([]);
});

test("a batch is left alone while its jobs are being made, and when whoever made them has ended before the last", async () => {
  const made = await library.createBatch(SUBMISSION);
  const batch = await library.acquirePendingBatch();
  await library.createJob(made.id, CONFIGURATION);
  expect(await sweep()).toEqual([]);
  await batch?.unlock();
  expect(await sweep()).toEqual([]);
  expect(await text(paths.expansion(parseBatchId(made.id)!))).toBeNull();
});

test("a job that it fails is told to its depositor, once, and its batch is due", async () => {
  const { batch, jobs } = await aBatchOfJobs(intake, 1);
  await advance(zk.connect, jobs[0]!, "Recording");
  await consumeOne(library, "Recording", () => {
    throw new Error("no such owner");
  });
  expect(await sweep()).toEqual(["failure"]);
  const callback = records.callback.decode(Buffer.from((await text(paths.callback(jobs[0]!, 0))) ?? ""));
  expect(callback).toMatchObject({ value: { job: jobs[0], batch, outcome: "FAILED", message: "no such owner" } });
  expect(await text(paths.dueBatch(batch))).not.toBeNull();
  const job = await readJob(reporter.session, jobs[0]!);
  expect(job.kind === "found" && job.value.history?.events.at(-1)?.slice(2, 4)).toEqual(["beside", "Recording"]);
  expect(await sweep()).toEqual([]);
});

test("a job failed by one who had lost it is told to nobody", async () => {
  const { jobs } = await aBatchOfJobs(intake, 1);
  await advance(zk.connect, jobs[0]!, "Recording");
  const late = (await library.acquireJob("Recording"))!;
  await late.unlock();
  await advanceFrom("Recording", jobs[0]!);
  await late.setStatus("Failed", "too late");
  expect(await sweep()).toEqual(["overwritten"]);
  expect(await text(paths.callback(jobs[0]!, 0))).toBeNull();
  expect(await sweep()).toEqual([]);
});

/** Recorder and notifier of ours take it to its end. */
async function advanceFrom(state: "Recording", id: JobId): Promise<void> {
  for (const [stage, takes] of [
    ["recorder", state],
    ["notifier", "Notify"],
  ] as const) {
    const worker = await testWorker(zk.connect, stage);
    await worker.jobs.commit(await claimJob(worker, takes, id), { kind: "done", changes: {} });
    await worker.close();
  }
}

test.each([
  ["in no queue", (path: string) => path.startsWith("/jobs/states/notify/")],
  ["in no bucket", (path: string) => path.includes("/batch-processing/")],
] as const)("a job that it leaves %s when it is killed is put back", async (_where, isLast) => {
  const { batch, jobs } = await aBatchOfJobs(intake, 2);
  for (const id of jobs) await advance(zk.connect, id, "Recording");
  const killed = await cdlLibrary(zk.connect, {
    onCall: ({ op, path }) => {
      if (op === "create" && isLast(path)) throw new Error("killed");
    },
  });
  const job = await killed.acquireJob("Recording");
  await expect(job?.setStatus("Notify")).rejects.toThrow("killed");
  // Its lock stands: it may be on its way.
  expect(await sweep()).toEqual([]);
  await killed.close();
  const id = parseJobId(job!.id)!;
  await waitFor(async () => (await text(paths.jobLock(id))) === null, { what: "its lock gone" });
  expect(await sweep()).toEqual(["place"]);
  expect(await text(paths.queueEntry("Notify", 5, id))).toBe("");
  expect(await text(paths.bucketEntry(batch, "batch-processing", id))).toBe("");
  expect(await sweep()).toEqual([]);
});

test("a leftover in a bucket that its job contradicts is removed", async () => {
  const { batch, jobs } = await aBatchOfJobs(intake, 1);
  await advance(zk.connect, jobs[0]!, "Notify");
  await library.session.create(paths.bucketEntry(batch, "batch-completed", jobs[0]!), Buffer.alloc(0));
  expect(await sweep()).toEqual(["place"]);
  expect(await text(paths.bucketEntry(batch, "batch-completed", jobs[0]!))).toBeNull();
});
