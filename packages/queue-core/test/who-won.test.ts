/** Who came too late is told who was faster, with what, and when. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { aBatchOfJobs, claimJob, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import { actOnBatch, actOnJob, changePriority, paths, releaseHold, resumeJob, setHold } from "../src/index.ts";

const OLGA = { name: "olga", reason: "the disk is being moved" };
const PAUL = { name: "paul", reason: "not needed any more" };
const AT = expect.stringMatching(/^\d{4}-\d{2}-\d{2} /);
let connect: string;
let intake: TestWorker;
let operator: TestWorker;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
  operator = await testWorker(connect, "operator", { register: false });
});
afterEach(async () => {
  await Promise.all([intake, operator].map((w) => w.close()));
});

test("of two operators who resume one job, the second learns of the first", async () => {
  const { jobs } = await aBatchOfJobs(intake, 1);
  await actOnJob(operator.ctx, OLGA, "fail", jobs[0]!);
  const results = await Promise.all([resumeJob(operator.ctx, OLGA, jobs[0]!), resumeJob(intake.ctx, PAUL, jobs[0]!)]);
  const loser = results.findIndex(({ kind }) => kind === "refused");
  expect(results[1 - loser]).toEqual({ kind: "applied" });
  expect(results[loser]).toEqual({
    kind: "refused",
    why: "the job is Pending, only a Failed one can be resumed",
    last: { actor: loser === 0 ? "paul" : "olga", action: "resume", at: AT },
  });
});

test("an operator who is overtaken by a worker learns which one", async () => {
  const { jobs } = await aBatchOfJobs(intake, 1);
  await intake.jobs.commit(await claimJob(intake, "Pending", jobs[0]!), { kind: "done", changes: {} });
  expect(await actOnJob(operator.ctx, OLGA, "hold", jobs[0]!)).toEqual({
    kind: "refused",
    why: "a job that is Estimating cannot be asked to hold",
    last: { actor: intake.actor.worker, action: "done", at: AT },
  });
});

test("where a hold or the batch stands in the way, who put it there is told", async () => {
  const { jobs } = await aBatchOfJobs(intake, 1);
  await actOnJob(operator.ctx, OLGA, "fail", jobs[0]!);
  await setHold(operator.ctx, PAUL, { kind: "collection", profile: "sluice_demo_content" });
  expect(await resumeJob(operator.ctx, OLGA, jobs[0]!)).toEqual({
    kind: "refused",
    why: "the collection sluice_demo_content is held",
    last: { actor: "paul", action: "collection.hold", at: AT },
  });
});

test("a batch and a hold have no history: the audit tells", async () => {
  const { batch, jobs } = await aBatchOfJobs(intake, 1);
  await actOnJob(operator.ctx, OLGA, "fail", jobs[0]!);
  expect(await actOnBatch(operator.ctx, OLGA, "delete", batch)).toMatchObject({ kind: "refused" });
  await setHold(operator.ctx, OLGA, { kind: "queue" });
  await changePriority(operator.ctx, PAUL, jobs[0]!, 9);
  expect(await setHold(operator.ctx, PAUL, { kind: "queue" })).toEqual({
    kind: "refused",
    why: "the queue is already paused",
    last: { actor: "olga", action: "queue.hold", at: AT },
  });
});

test("a worker is drained and let work again; a name that is no name is refused", async () => {
  const target = { kind: "worker", worker: intake.actor.worker } as const;
  expect(await setHold(operator.ctx, OLGA, target)).toEqual({ kind: "applied" });
  const node = await operator.session.get(paths.drain(intake.actor.worker));
  expect(node.ok && (JSON.parse(node.value.data.toString()) as unknown)).toMatchObject({
    by: "olga",
    why: OLGA.reason,
  });
  expect(await releaseHold(operator.ctx, OLGA, target)).toEqual({ kind: "applied" });
  expect(await operator.session.exists(paths.drain(intake.actor.worker))).toEqual({ ok: true, value: null });
  expect(await setHold(operator.ctx, OLGA, { kind: "worker", worker: "../id" })).toMatchObject({ kind: "refused" });
});
