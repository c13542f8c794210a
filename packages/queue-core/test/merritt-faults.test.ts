/** Faults that are known of Merritt's queue, and that no other test here shows to be absent; all are in docs/merritt-faults.md. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  aBatchOfJobs,
  advance,
  claimJob,
  readTransactions,
  startFaultProxy,
  testWorker,
  type TestWorker,
  testZooKeeper,
  type TestZooKeeper,
  waitFor,
} from "@sluice/testkit";
import {
  acquireObjectLocks,
  actOnBatch,
  actOnJob,
  type BatchId,
  changePriority,
  type JobId,
  type JobState,
  type JobStatus,
  jobRow,
  openReport,
  parseTimestamp,
  paths,
  readJob,
  resumeJob,
} from "../src/index.ts";
import { claimBatch, finish } from "./support/batch-work.ts";

const OPERATOR = { name: "olga", reason: "because" };
let zk: TestZooKeeper;
let intake: TestWorker;
let reporter: TestWorker;
let operator: TestWorker;

beforeEach(async () => {
  zk = await testZooKeeper();
  intake = await testWorker(zk.connect, "batch-intake");
  reporter = await testWorker(zk.connect, "reporter");
  operator = await testWorker(zk.connect, "operator", { register: false });
});
afterEach(async () => {
  await Promise.all([intake, reporter, operator].map((w) => w.close()));
});

async function statusOf(id: JobId): Promise<JobStatus> {
  const view = await readJob(operator.session, id);
  if (view.kind !== "found") throw new Error(`${id}: ${view.kind}`);
  return view.value.status;
}

/** The stage's worker takes the job and says that it cannot be done. */
async function failIn(state: JobState, id: JobId): Promise<void> {
  const worker = await testWorker(zk.connect, jobRow(state).owner ?? "");
  const loaded = await claimJob(worker, state, id);
  const ending = { kind: "fail", code: "DOWNLOAD_FAILED", message: "HTTP 503" } as const;
  expect(await worker.jobs.commit(loaded, ending)).toMatchObject({ kind: "applied", to: "Failed" });
  await worker.close();
}

describe("a job's place in its batch", () => {
  test("is not touched while the job is under way: nobody ever sees the batch empty", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    for (let priority = 10; priority < 60; priority += 1) {
      expect(await changePriority(operator.ctx, OPERATOR, jobs[0]!, priority)).toEqual({ kind: "applied" });
    }
    await advance(zk.connect, jobs[0]!, "Notify");
    const bucket = `${paths.batch(batch)}/states/batch-processing`;
    const touching = [...readTransactions(zk.logDir, zk.root)]
      .flatMap(({ kind, ops }) => (kind === "write" ? ops : []))
      .filter(({ path }) => path.startsWith(zk.root) && path.includes(bucket))
      .map(({ op, path }) => `${op} ${path.slice(path.indexOf(bucket) + bucket.length)}`);
    expect(touching).toEqual(["create ", `create /${jobs[0]}`]);
  });
});

describe("a deleted batch", () => {
  async function deletedBatch(): Promise<BatchId> {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    await finish(zk.connect, jobs[0]!, "fail");
    await openReport(reporter.ctx, batch);
    const report = { last_modified: "", failed_jobs: [jobs[0]!], successful_jobs: [] };
    await reporter.batches.settle(await claimBatch(reporter, "Reporting", batch), { kind: "verdict", report });
    expect(await actOnBatch(operator.ctx, OPERATOR, "delete", batch)).toEqual({ kind: "applied" });
    return batch;
  }

  test("that a reporter comes upon keeps no lock, and does not keep it from the next batch", async () => {
    const deleted = await deletedBatch();
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    await finish(zk.connect, jobs[0]!);
    expect(await openReport(reporter.ctx, deleted)).not.toMatchObject({ kind: "opened" });
    expect((await reporter.batches.claim("Reporting", deleted)).kind).not.toBe("acquired");
    expect(await reporter.session.exists(paths.batchLock(deleted))).toEqual({ ok: true, value: null });
    expect(await openReport(reporter.ctx, batch)).toEqual({ kind: "opened" });
  });
});

describe("the place where a job is resumed", () => {
  test("is the same after a second failure", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    await advance(zk.connect, jobs[0]!, "Downloading");
    for (const retry_count of [1, 2, 3]) {
      await failIn("Downloading", jobs[0]!);
      expect(await statusOf(jobs[0]!)).toMatchObject({ last_successful_status: "Provisioning" });
      expect(await resumeJob(operator.ctx, OPERATOR, jobs[0]!)).toEqual({ kind: "applied" });
      expect(await statusOf(jobs[0]!)).toMatchObject({
        status: "Downloading",
        last_successful_status: "Provisioning",
        retry_count,
      });
    }
  });

  test("is not lost by a hold and a release", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    for (const action of ["hold", "release"] as const) {
      expect(await actOnJob(operator.ctx, OPERATOR, action, jobs[0]!)).toEqual({ kind: "applied" });
      expect(await statusOf(jobs[0]!)).toMatchObject({ last_successful_status: null });
    }
    await failIn("Pending", jobs[0]!);
    expect(await resumeJob(operator.ctx, OPERATOR, jobs[0]!)).toEqual({ kind: "applied" });
    expect(await statusOf(jobs[0]!)).toMatchObject({ status: "Pending", last_successful_status: null, retry_count: 1 });
    await advance(zk.connect, jobs[0]!, "Processing");
    await failIn("Processing", jobs[0]!);
    expect(await resumeJob(operator.ctx, OPERATOR, jobs[0]!)).toEqual({ kind: "applied" });
    expect(await statusOf(jobs[0]!)).toMatchObject({ status: "Processing", last_successful_status: "Downloading" });
  });
});

test("every move writes down when it was made", async () => {
  const { jobs } = await aBatchOfJobs(intake, 1);
  const made = parseTimestamp((await statusOf(jobs[0]!)).last_modified);
  const inAnHour = { ...intake.ctx.clock, nowMs: () => Date.now() + 3_600_000 };
  await actOnJob({ ...operator.ctx, clock: inAnHour }, OPERATOR, "hold", jobs[0]!);
  const held = parseTimestamp((await statusOf(jobs[0]!)).last_modified);
  expect(held! - made!).toBeGreaterThanOrEqual(3_599_000);
});

describe("the storage lock of an object", () => {
  test("whose holder crashed is free when its session has ended, without anybody's help", async () => {
    const path = paths.storageLock("ark:/99999/fk4555");
    const proxy = await startFaultProxy(zk.connect);
    const crashed = await testWorker(proxy.connect, "processor", { timeoutMs: 2_000 });
    const processor = await testWorker(zk.connect, "processor");
    const take = async ({ ctx, actor }: TestWorker): Promise<string> =>
      (await acquireObjectLocks(ctx, actor, [path])).kind;
    expect([await take(crashed), await take(processor)]).toEqual(["acquired", "busy"]);
    await proxy.setMode("refuse"); // not a word comes through any more, not even goodbye
    await waitFor(async () => (await take(processor)) === "acquired", {
      what: "the lock of the dead",
    });
    await crashed.close();
    await proxy.close();
    await processor.close();
  });
});
