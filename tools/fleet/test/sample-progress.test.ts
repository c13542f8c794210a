import { expect, test } from "@jest/globals";
import { paths, readBatch } from "@sluice/queue-core";
import { aBatchOfJobs, testWorker, testZooKeeper } from "@sluice/testkit";
import { progressLine } from "../src/sample/progress.ts";
import { progressOf } from "../src/sample/watch.ts";

test("a job that moves between two listings is counted once", async () => {
  const { connect } = await testZooKeeper();
  const intake = await testWorker(connect, "batch-intake");
  const { batch, jobs } = await aBatchOfJobs(intake, 2);
  // What two listings see, one made before a move and one after it.
  const path = paths.bucketEntry(batch, "batch-completed", jobs[0]!);
  await intake.session.multi([{ op: "create", path, data: Buffer.alloc(0) }]);
  const view = await readBatch(intake.session, batch);
  if (view.kind !== "found") throw new Error(view.kind);
  const progress = await progressOf(intake.session, view.value);
  expect([...progress.byState.values()]).toEqual([2]);
  expect(progressLine(progress)).toContain("0/2");
  await intake.close();
});
