import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  aBatch,
  aBatchOfJobs,
  aJobSpec,
  aSubmission,
  claimJob,
  testWorker,
  type TestWorker,
  testZooKeeper,
  tree,
} from "@sluice/testkit";
import {
  DIRECTORIES,
  actOnBatch,
  actOnJob,
  batchUuidFromKey,
  cleanUpBatch,
  createBatch,
  deleteJobsOfBatch,
  type JobId,
  listBucket,
  makeExpander,
  makeIdBlocks,
  openReport,
  paths,
  queueIsFull,
  readBatch,
  readJob,
  readReport,
  resumeJob,
  type StatusReport,
} from "../src/index.ts";
import { claimBatch, finish } from "./support/batch-work.ts";

const OPERATOR = { name: "olga", reason: "because" };
let connect: string;
let intake: TestWorker;
let reporter: TestWorker;
let operator: TestWorker;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
  reporter = await testWorker(connect, "reporter");
  operator = await testWorker(connect, "operator", { register: false });
});
afterEach(async () => {
  await Promise.all([intake, reporter, operator].map((w) => w.close()));
});

const report = (failed: readonly JobId[], successful: readonly JobId[]): StatusReport => ({
  last_modified: "",
  failed_jobs: [...failed],
  successful_jobs: [...successful],
});

describe("creating a batch", () => {
  test("makes all of it at once", async () => {
    const id = await aBatch(intake);
    expect(
      await tree(intake.session, {
        under: ["/batches", "/fleet/batches"],
        except: /^\/fleet\/batches\/[a-z]+$/,
        ids: "normalised",
      }),
    ).toMatchObject({
      "/batches/bid0/status": { status: "Pending", message: "" },
      "/batches/bid0/submission": { profile_name: "sluice_demo_content", batchID: expect.stringMatching(/^bid-/) },
      "/batches/bid0/states/batch-processing": null,
    });
    expect(await intake.session.exists(paths.fleetBatch("Pending", id))).toMatchObject({
      ok: true,
      value: { version: 0 },
    });
  });

  test("a hundred times at once with one key makes one batch, and every caller learns which", async () => {
    const uuid = batchUuidFromKey("caller", "key-1");
    const ids = makeIdBlocks(intake.ctx);
    const request = { uuid, submission: aSubmission({ request_digest: "same" }), epoch: 1 };
    const results = await Promise.all(Array.from({ length: 100 }, () => createBatch(intake.ctx, ids, request)));
    const batches = new Set(results.map((r) => ("id" in r ? r.id : r.kind)));
    expect(batches.size).toBe(1);
    expect(results.filter((r) => r.kind === "created")).toHaveLength(1);
    expect(results.filter((r) => r.kind === "replayed")).toHaveLength(99);
    const other = await createBatch(intake.ctx, ids, {
      ...request,
      submission: aSubmission({ request_digest: "other" }),
    });
    expect(other.kind).toBe("conflict");
  });

  test("steps over numbers that a foreign writer has taken", async () => {
    const first = await aBatch(intake);
    const number = Number(first.slice(3));
    const taken = Array.from({ length: 30 }, (_, i) => `/batches/bid${String(number + 1 + i).padStart(10, "0")}`);
    await operator.ctx.committer.submit({
      rank: "operator",
      ops: taken.map((path) => ({ op: "create", path, data: Buffer.alloc(0) })),
    });
    expect(Number((await aBatch(intake)).slice(3))).toBeGreaterThan(number + 30);
  });
});

describe("expanding a batch", () => {
  test("is continued by another intake at exactly the row where the first one died", async () => {
    const dying = await testWorker(connect, "batch-intake");
    const id = await aBatch(intake);
    await dying.batches.settle(await claimBatch(dying, "Pending", id), { kind: "start", rows: 60, digest: "d" });
    const options = { identity: intake.identity, workingDir: () => "" };
    const first = makeExpander(dying.ctx, dying.actor, makeIdBlocks(dying.ctx), options);
    await first.addJobs(
      await claimBatch(dying, "Processing", id),
      Array.from({ length: 25 }, () => aJobSpec()),
    );
    await dying.close();

    let loaded = await claimBatch(intake, "Processing", id);
    expect(loaded.batch.expansion).toMatchObject({ rows: 60, created: 25, digest: "d" });
    const second = makeExpander(intake.ctx, intake.actor, makeIdBlocks(intake.ctx), options);
    for (const rows of [25, 10]) {
      const added = await second.addJobs(
        loaded,
        Array.from({ length: rows }, () => aJobSpec()),
      );
      if (added.kind !== "added") throw new Error(added.kind);
      loaded = added.loaded;
    }
    expect(await second.addJobs(loaded, [aJobSpec()])).toMatchObject({ kind: "refused" });
    expect(await listBucket(intake.session, id, "batch-processing")).toHaveLength(60);
  });

  test("by one who was overtaken is refused", async () => {
    const slow = await testWorker(connect, "batch-intake");
    const id = await aBatch(intake);
    await slow.batches.settle(await claimBatch(slow, "Pending", id), { kind: "start", rows: 2, digest: "" });
    const mine = await claimBatch(slow, "Processing", id);
    // The lock goes (as at expiry) and another intake claims: the batch's status has moved on.
    await operator.ctx.committer.submit({
      rank: "operator",
      ops: [{ op: "delete", path: paths.batchLock(id), version: 0 }],
    });
    await claimBatch(intake, "Processing", id);
    const options = { identity: intake.identity, workingDir: () => "" };
    const expander = makeExpander(slow.ctx, slow.actor, makeIdBlocks(slow.ctx), options);
    expect(await expander.addJobs(mine, [aJobSpec()])).toEqual({ kind: "fenced" });
    expect(await listBucket(intake.session, id, "batch-processing")).toEqual([]);
    await slow.close();
  });

  test("cannot fail as a whole once a job exists", async () => {
    const { batch } = await aBatchOfJobs(intake, 1);
    const loaded = await claimBatch(intake, "Processing", batch);
    expect(
      await intake.batches.settle(loaded, { kind: "fail", code: "MANIFEST_CORRUPT", message: "row 2" }),
    ).toMatchObject({ kind: "refused" });
  });
});

test("rows may become jobs as long as no directory can pass its bound", async () => {
  await aBatchOfJobs(intake, 3);
  expect(await queueIsFull(intake.ctx)).toBeNull();
  const deep = (path: string): number => (path.endsWith("/failed") ? 40_000 : path.endsWith("/estimating") ? 9_990 : 0);
  const session = new Proxy(intake.session, {
    get: (target, key) =>
      key === "readMany"
        ? (reads: readonly { readonly get: string }[]) =>
            Promise.resolve({
              ok: true,
              value: reads.map(({ get }) => ({
                kind: "node",
                node: { data: Buffer.alloc(0), stat: { numChildren: deep(get) } },
              })),
            })
        : (Reflect.get(target, key, target) as unknown),
  });
  expect(await queueIsFull({ session })).toBe(
    "9990 jobs are under way and 40000 rest in one state; 50000 is the bound",
  );
});

describe("the attempts at a batch", () => {
  test("are the claims that failed or died; an orderly release starts the count anew", async () => {
    const id = await aBatch(intake);
    const dying = await testWorker(connect, "batch-intake");
    expect((await claimBatch(dying, "Pending", id)).batch.attempt).toBe(1);
    await dying.close();
    const second = await claimBatch(intake, "Pending", id);
    expect(second.batch.attempt).toBe(2);
    await intake.batches.settle(second, { kind: "release", counted: true });
    const third = await claimBatch(intake, "Pending", id);
    expect(third.batch.attempt).toBe(3);
    await intake.batches.settle(third, { kind: "release" });
    expect((await claimBatch(intake, "Pending", id)).batch.attempt).toBe(1);
  });
});

describe("the report gate", () => {
  test("stays shut while rows are not yet jobs, even if every job so far has ended", async () => {
    const id = await aBatch(intake);
    await intake.batches.settle(await claimBatch(intake, "Pending", id), { kind: "start", rows: 2, digest: "" });
    const loaded = await claimBatch(intake, "Processing", id);
    const expander = makeExpander(intake.ctx, intake.actor, makeIdBlocks(intake.ctx), {
      identity: intake.identity,
      workingDir: () => "",
    });
    const added = await expander.addJobs(loaded, [aJobSpec()]);
    const [job] = (await listBucket(intake.session, id, "batch-processing")) ?? [];
    await finish(connect, job!);
    expect(await openReport(reporter.ctx, id)).toMatchObject({
      kind: "shut",
      why: "2 rows, 1 jobs made, 0 under way, 1 ended",
    });
    if (added.kind === "added") await expander.addJobs(added.loaded, [aJobSpec()]);
    expect(await openReport(reporter.ctx, id)).toMatchObject({ kind: "shut" });
  });

  test("opens once when the last two jobs end at the same moment and many reporters hear of it", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 2);
    await Promise.all(jobs.map((job) => finish(connect, job)));
    const rivals = await Promise.all(Array.from({ length: 4 }, () => testWorker(connect, "reporter")));
    const results = await Promise.all(rivals.map((r) => openReport(r.ctx, batch)));
    expect(results.filter((r) => r.kind === "opened")).toHaveLength(1);
    const claims = await Promise.all(rivals.map((r) => r.batches.claim("Reporting", batch)));
    expect(claims.filter((c) => c.kind === "acquired")).toHaveLength(1);
    expect(await reporter.session.exists(paths.dueBatch(batch))).toEqual({ ok: true, value: null });
    await Promise.all(rivals.map((r) => r.close()));
  });

  test("refuses the verdict Completed while a failed job is listed, and Failed without a proof", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 2);
    await finish(connect, jobs[0]!);
    await finish(connect, jobs[1]!, "fail");
    expect(await openReport(reporter.ctx, batch)).toEqual({ kind: "opened" });
    const loaded = await claimBatch(reporter, "Reporting", batch);
    expect(await reporter.batches.settle(loaded, { kind: "verdict", report: report([], jobs) })).toEqual({
      kind: "gate-shut",
    });
    expect(await reporter.batches.settle(loaded, { kind: "verdict", report: report([jobs[0]!], [jobs[1]!]) })).toEqual({
      kind: "gate-shut",
    });
    expect(await reporter.batches.settle(loaded, { kind: "verdict", report: report([jobs[1]!], [jobs[0]!]) })).toEqual({
      kind: "applied",
      to: "Failed",
    });
    expect(await readBatch(reporter.session, batch)).toMatchObject({
      value: {
        status: { status: "Failed", message: "1 of 2 jobs failed" },
        report: { failed_jobs: [jobs[1]], successful_jobs: [jobs[0]] },
      },
    });
  });

  test("lists too long for a node go into chunks and come back whole", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    await finish(connect, jobs[0]!, "fail");
    await openReport(reporter.ctx, batch);
    const many = Array.from({ length: 7000 }, (_, i) => `jid${String(i).padStart(10, "0")}`) as JobId[];
    await reporter.batches.settle(await claimBatch(reporter, "Reporting", batch), {
      kind: "verdict",
      report: report([jobs[0]!], many),
    });
    const view = await readBatch(reporter.session, batch);
    if (view.kind !== "found" || view.value.report === null) throw new Error("no report");
    expect(view.value.report).toMatchObject({ failed_jobs: [], counts: { failed: 1, successful: 7000 } });
    expect(await readReport(reporter.ctx, batch, view.value.report)).toMatchObject({
      failed_jobs: [jobs[0]],
      successful_jobs: many,
    });
  });
});

describe("a failed batch", () => {
  async function failedBatch() {
    const { batch, jobs } = await aBatchOfJobs(intake, 2);
    await finish(connect, jobs[0]!);
    await finish(connect, jobs[1]!, "fail");
    await openReport(reporter.ctx, batch);
    await reporter.batches.settle(await claimBatch(reporter, "Reporting", batch), {
      kind: "verdict",
      report: report([jobs[1]!], [jobs[0]!]),
    });
    return { batch, failed: jobs[1]!, completed: jobs[0]! };
  }

  test("is reported on again after its job was resumed and finished", async () => {
    const { batch, failed, completed } = await failedBatch();
    expect(await resumeJob(operator.ctx, OPERATOR, failed)).toEqual({ kind: "applied" });
    expect(await readJob(operator.session, failed)).toMatchObject({
      value: { status: { status: "Notify", last_successful_status: "Recording", retry_count: 1 } },
    });
    expect(await actOnBatch(operator.ctx, OPERATOR, "update-reporting", batch)).toMatchObject({
      kind: "refused",
      why: "1 of its jobs are still under way",
    });
    const notifier = await testWorker(connect, "notifier");
    await notifier.jobs.commit(await claimJob(notifier, "Notify", failed), { kind: "done", changes: {} });
    await notifier.close();
    expect(await actOnBatch(operator.ctx, OPERATOR, "update-reporting", batch)).toEqual({ kind: "applied" });
    expect(await resumeJob(operator.ctx, OPERATOR, failed)).toMatchObject({ kind: "refused" });
    const loaded = await claimBatch(reporter, "UpdateReporting", batch);
    expect(loaded.batch.report).toMatchObject({ failed_jobs: [failed] });
    expect(await reporter.batches.settle(loaded, { kind: "verdict", report: report([], [completed, failed]) })).toEqual(
      { kind: "applied", to: "Completed" },
    );
    expect(loaded.batch.expansion?.reports).toBe(1);
  });

  test("takes no resume while it is being reported on", async () => {
    const { batch, failed } = await failedBatch();
    await actOnBatch(operator.ctx, OPERATOR, "update-reporting", batch);
    expect(await resumeJob(operator.ctx, OPERATOR, failed)).toMatchObject({
      kind: "refused",
      why: "its batch is UpdateReporting",
    });
    expect(await actOnJob(operator.ctx, OPERATOR, "delete", failed)).toMatchObject({
      kind: "refused",
      why: "its batch is UpdateReporting",
    });
  });

  test("is deleted with its jobs, running ones too, and cleaned up without a trace but its key", async () => {
    const { batch, failed, completed } = await failedBatch();
    await resumeJob(operator.ctx, OPERATOR, failed);
    const notifier = await testWorker(connect, "notifier");
    const running = await claimJob(notifier, "Notify", failed);
    expect(await actOnBatch(operator.ctx, OPERATOR, "delete", batch)).toEqual({ kind: "applied" });
    expect(await deleteJobsOfBatch(reporter.ctx, batch, "reporter")).toBe(0);
    expect(await notifier.jobs.commit(running, { kind: "done", changes: {} })).toEqual({ kind: "fenced" });
    await notifier.close();
    expect(await readJob(operator.session, failed)).toMatchObject({
      value: { status: { status: "Deleted" }, lock: null },
    });
    expect(await readJob(operator.session, completed)).toMatchObject({ value: { status: { status: "Completed" } } });
    expect(await cleanUpBatch(reporter.ctx, batch)).toEqual({ kind: "cleaned", jobs: 2 });
    const left = await tree(operator.session, {
      under: ["/batches", "/jobs", "/batch-uuids", "/fleet"],
      // What is there without any batch, who works, and what the notifier has still to tell.
      except:
        /\/states\/[a-z]+$|audit|workers|callbacks\/|\/fleet\/(ids?|epoch|layout|holds|space|batches\/[a-z]+|operations\/[a-z]+)$/,
    });
    const made = Object.keys(left).filter((path) => !DIRECTORIES.includes(path));
    expect(made).toEqual([expect.stringMatching(/^\/fleet\/keys\/\d{4}-\d{2}-\d{2}\/bid-/)]);
  });
});
