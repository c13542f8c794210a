/** A node that the server will not tell about is not a node that is not there, and a list that it will not tell is not empty. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { aBatchOfJobs, aSubmission, claimJob, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import { RIGHTS } from "@sluice/zookeeper";
import {
  actOnBatch,
  type BatchId,
  batchUuidFromKey,
  cleanUpBatch,
  createBatch,
  dayOf,
  deleteJobsOfBatch,
  listEndedHolds,
  load,
  makeIdBlocks,
  makeSpaceReader,
  paths,
  peek,
  queueIsFull,
  readHolds,
  readJobs,
  sortEntries,
} from "../src/index.ts";
import { claimBatch } from "./support/batch-work.ts";

const OPERATOR = { name: "olga", reason: "because" };
let connect: string;
let intake: TestWorker;
let reporter: TestWorker;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
  reporter = await testWorker(connect, "reporter");
});
afterEach(async () => {
  await Promise.all([intake, reporter].map((worker) => worker.close()));
});

const rights = (permissions: number) => [{ permissions, scheme: "world", id: "anyone" }];

/** Everything may be done with it but to read it. Answers the way back. */
async function hide(path: string): Promise<() => Promise<void>> {
  expect(await intake.session.setAcl(path, rights(RIGHTS.all - RIGHTS.read), 0)).toMatchObject({ ok: true });
  return async () => {
    expect(await intake.session.setAcl(path, rights(RIGHTS.all), 1)).toMatchObject({ ok: true });
  };
}

describe("a job of which a node cannot be read", () => {
  test("is broken, and is no reason not to see the others", async () => {
    const { jobs } = await aBatchOfJobs(intake, 3);
    await hide(paths.jobStatus(jobs[0]!));
    const names = await intake.session.children(paths.queue("Pending"));
    const entries = sortEntries(names.ok ? names.value.names : []);
    const looked = await peek(intake.session, "Pending", entries);
    expect(looked.ok && looked.value.map(({ kind }) => kind)).toEqual(["broken", "ready", "ready"]);
    expect((await readJobs(intake.session, jobs))?.map(({ kind }) => kind)).toEqual(["broken", "found", "found"]);
  });

  test("is given back by whoever claimed it, with the others loaded", async () => {
    const { jobs } = await aBatchOfJobs(intake, 2);
    const claimed = [await claimJob(intake, "Pending", jobs[0]!), await claimJob(intake, "Pending", jobs[1]!)];
    await hide(paths.jobConfiguration(jobs[1]!));
    const loaded = await load(
      intake.session,
      claimed.map(({ lease }) => lease),
      intake.identity,
    );
    expect(loaded.ok && loaded.value.map(({ ok }) => ok)).toEqual([true, false]);
  });
});

test.each([
  ["holds", paths.collectionLocks, async () => (await readHolds(reporter.session)).ok],
  ["ends of holds", paths.drains, async () => (await listEndedHolds(reporter.session, 0)) !== null],
  ["room", paths.queue("Failed"), async () => (await makeSpaceReader(reporter.session).read()) !== null],
  ["depth", paths.queue("Failed"), async () => (await queueIsFull({ session: reporter.session })) === null],
])("a list of %s that cannot be read is no empty one", async (_what, path, isKnown) => {
  expect(await isKnown()).toBe(true);
  await hide(path);
  expect(await isKnown()).toBe(false);
});

describe("a batch of which a node cannot be read", () => {
  async function deleted(): Promise<{ readonly id: BatchId; readonly again: () => ReturnType<typeof createBatch> }> {
    const uuid = batchUuidFromKey("caller", "key");
    const request = { uuid, submission: aSubmission({ request_digest: "d" }), epoch: 1 };
    const made = await createBatch(intake.ctx, makeIdBlocks(intake.ctx), request);
    if (made.kind !== "created") throw new Error(made.kind);
    await intake.batches.settle(await claimBatch(intake, "Pending", made.id), { kind: "park", why: "held" });
    await actOnBatch(intake.ctx, OPERATOR, "delete", made.id);
    return { id: made.id, again: () => createBatch(intake.ctx, makeIdBlocks(intake.ctx), request) };
  }

  test("is not cleaned up before its key can be put away", async () => {
    const { id, again } = await deleted();
    const show = await hide(paths.batchSubmission(id));
    expect(await cleanUpBatch(reporter.ctx, id)).toMatchObject({ kind: "not-yet" });
    await show();
    expect(await cleanUpBatch(reporter.ctx, id)).toEqual({ kind: "cleaned", jobs: 0 });
    expect(await again()).toEqual({ kind: "replayed", id });
  });

  test("has a key that makes no second batch, though the kept keys cannot be read", async () => {
    const { id, again } = await deleted();
    expect(await cleanUpBatch(reporter.ctx, id)).toMatchObject({ kind: "cleaned" });
    const uuid = batchUuidFromKey("caller", "key");
    const show = await hide(paths.key(dayOf(intake.session.serverNowMs()), uuid));
    expect(await again()).not.toMatchObject({ kind: "created" });
    await show();
    expect(await again()).toEqual({ kind: "replayed", id });
  });

  test("keeps its deletion open while its jobs cannot be listed", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    await claimJob(intake, "Pending", jobs[0]!);
    const status = await intake.session.get(paths.batchStatus(batch));
    const bytes = status.ok ? String(status.value.data).replace("Processing", "Deleted") : "";
    const version = status.ok ? status.value.stat.version : -1;
    const data = Buffer.from(bytes);
    await intake.session.multi([{ op: "set", path: paths.batchStatus(batch), data, version }]);
    const show = await hide(paths.bucket(batch, "batch-processing"));
    expect(await deleteJobsOfBatch(reporter.ctx, batch, "reporter")).toBeGreaterThan(0);
    await show();
    expect(await deleteJobsOfBatch(reporter.ctx, batch, "reporter")).toBe(0);
  });
});
