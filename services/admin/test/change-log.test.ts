/** What operators do is found in the log by the ids of the jobs and batches that it was done to. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { makeLog } from "@sluice/stage-runtime";
import { aBatchOfJobs, type TestWorker, testWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { ADMIN } from "@sluice/wire";
import { COLLECTION, startAdmin, type TestAdmin, valueOf } from "./support.ts";

const WHY = "the store is back";
let intake: TestWorker;
let admin: TestAdmin;
let lines: string[];

beforeEach(async () => {
  const { connect } = await testZooKeeper();
  intake = await testWorker(connect, "batch-intake");
  lines = [];
  const log = makeLog("admin", "info", { write: (line: string) => lines.push(line) });
  admin = await startAdmin(connect, { log });
});
afterEach(async () => {
  await admin.stop();
  await intake.close();
});

const linesAbout = (id: string): Record<string, unknown>[] =>
  lines.filter((line) => line.includes(`"${id}"`)).map((line) => JSON.parse(line) as Record<string, unknown>);

test("a change of one job, batch or collection names who, why, the job and its batch", async () => {
  const { batch, jobs } = await aBatchOfJobs(intake, 1);
  const olga = admin.as("operator");
  const body = { reason: WHY } as const;
  valueOf(await olga.call(ADMIN.jobAction, { params: { id: jobs[0]! }, body: { ...body, action: "hold" } }));
  await olga.call(ADMIN.batchAction, { params: { id: batch }, body: { ...body, action: "release" } });
  valueOf(await olga.call(ADMIN.collectionAction, { params: { name: COLLECTION }, body: { ...body, action: "hold" } }));
  const common = { msg: "an operator's change", actor: "operator", reason: WHY, request_id: expect.any(String) };
  expect(linesAbout(jobs[0]!)).toMatchObject([
    { ...common, action: "job.hold", result: "applied", job_id: jobs[0], batch_id: batch },
  ]);
  expect(linesAbout(batch).slice(1)).toMatchObject([
    { ...common, action: "batch.release", result: "refused", batch_id: batch },
  ]);
  expect(linesAbout(COLLECTION)).toMatchObject([{ ...common, action: "collection.hold", result: "applied" }]);
});

test("an order for many jobs names each of them, and those that it could not be done to", async () => {
  const { jobs } = await aBatchOfJobs(intake, 3);
  const olga = admin.as("operator");
  const hold = { action: "hold", reason: WHY } as const;
  valueOf(await olga.call(ADMIN.jobAction, { params: { id: jobs[0]! }, body: hold }));
  valueOf(await olga.call(ADMIN.bulkAction, { body: { ...hold, filter: { ids: [...jobs] } } }));
  const found = await waitFor(() => linesAbout(jobs[2]!)[0]);
  expect(found).toMatchObject({
    msg: "a bulk operation was carried out on jobs",
    action: "hold",
    actor: "operator",
    reason: WHY,
    jobs,
    applied: 2,
    refused: [jobs[0]],
  });
});
