/** An operator who is bound to collections touches nothing else, whichever way the order comes. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { aBatchOfJobs, aSubmission, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import {
  actOnBatch,
  actOnJob,
  countJobs,
  orderCleanUp,
  orderJobs,
  readJob,
  releaseHold,
  setHold,
} from "../src/index.ts";

const MINE = "sluice_demo_content";
const BOUND = { name: "otto", reason: "mine only", collections: ["other_content"] };
const NOT_FOUND = { kind: "not-found" };
let intake: TestWorker;
let operator: TestWorker;

beforeEach(async () => {
  const { connect } = await testZooKeeper();
  intake = await testWorker(connect, "batch-intake");
  operator = await testWorker(connect, "operator", { register: false });
});
afterEach(async () => {
  await Promise.all([intake.close(), operator.close()]);
});

test("jobs, batches and holds of others are not there; queue, stages and workers are not theirs to stop", async () => {
  const { batch, jobs } = await aBatchOfJobs(intake, 2, aSubmission({ profile_name: MINE }));
  expect(await actOnJob(operator.ctx, BOUND, "fail", jobs[0]!)).toEqual(NOT_FOUND);
  expect(await actOnBatch(operator.ctx, BOUND, "delete", batch)).toEqual(NOT_FOUND);
  expect(await orderCleanUp(operator.ctx, BOUND, batch)).toEqual(NOT_FOUND);
  expect(await setHold(operator.ctx, BOUND, { kind: "collection", profile: MINE })).toEqual(NOT_FOUND);
  expect(await setHold(operator.ctx, BOUND, { kind: "queue" })).toEqual(NOT_FOUND);
  expect(await releaseHold(operator.ctx, BOUND, { kind: "stage", stage: "estimator" })).toEqual(NOT_FOUND);
  expect(await setHold(operator.ctx, BOUND, { kind: "collection", profile: "other_content" })).toEqual({
    kind: "applied",
  });
});

test("an order for many does not reach them either, even where it names them", async () => {
  const { jobs } = await aBatchOfJobs(intake, 3, aSubmission({ profile_name: MINE }));
  const ids = { ids: jobs };
  expect(await orderJobs(operator.ctx, BOUND, { action: "fail" }, ids)).toMatchObject({
    kind: "finished",
    progress: { total: 3, done: 0, notFound: 3 },
  });
  expect(await readJob(operator.session, jobs[0]!)).toMatchObject({ value: { status: { status: "Pending" } } });
  const count = (collections: readonly string[]) => countJobs(operator.session, { ...ids, collections }, 0);
  expect(await count(["other_content"])).toMatchObject({ total: 0 });
  expect(await count(["other_content", MINE])).toMatchObject({ total: 3 });
});
