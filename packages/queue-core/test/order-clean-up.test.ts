/** An operator orders a batch that is over to be cleaned up: the order stands in the tree and in the audit, nothing goes yet. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import {
  aBatchOfJobs,
  checkInvariants,
  describeViolation,
  testWorker,
  type TestWorker,
  type TestZooKeeper,
  testZooKeeper,
} from "@sluice/testkit";
import { openReport, orderCleanUp, paths, records } from "../src/index.ts";
import { claimBatch, finish } from "./support/batch-work.ts";

const OLGA = { name: "olga", reason: "the collection was withdrawn" };
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

test("a batch that is under way is refused; the order for one that is Completed stands once, and the log has no objection", async () => {
  const { batch, jobs } = await aBatchOfJobs(intake, 2);
  expect(await orderCleanUp(operator.ctx, OLGA, batch)).toMatchObject({
    kind: "refused",
    why: "a batch that is Processing cannot be cleaned up",
  });
  for (const id of jobs) await finish(zk.connect, id);
  await openReport(reporter.ctx, batch);
  const report = { last_modified: "", failed_jobs: [], successful_jobs: [...jobs] };
  await reporter.batches.settle(await claimBatch(reporter, "Reporting", batch), { kind: "verdict", report });
  expect(await orderCleanUp(operator.ctx, OLGA, batch)).toEqual({ kind: "applied" });
  expect(await operator.session.exists(paths.cleanUp(batch))).toMatchObject({ value: { numChildren: 0 } });
  expect(await operator.session.exists(paths.batch(batch))).toMatchObject({ value: { version: 0 } });
  const record = await operator.session.get(paths.auditRecord(1));
  expect(record.ok && records.auditRecord.decode(record.value.data)).toMatchObject({
    value: { actor: "olga", action: "batch.clean-up", target: batch },
  });
  expect(checkInvariants({ logDir: zk.logDir, root: zk.root }).violations.map(describeViolation)).toEqual([]);
  expect(await orderCleanUp(operator.ctx, OLGA, batch)).toMatchObject({
    kind: "refused",
    why: "its clean-up has been ordered already",
  });
});
