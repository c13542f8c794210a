/** Merritt's own batches that something has listed in our index: whoever lists them has not imported them. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type BatchState, cleanUpBatch, makeBatchStore, parseBatchId, paths } from "@sluice/queue-core";
import { type CdlWriter, cdlWriter, testWorker, type TestWorker, testZooKeeper, tree } from "@sluice/testkit";
import type { SweepContext } from "@sluice/stage-runtime";
import { endedJobsSweep } from "../src/sweeps/ended-jobs.ts";
import { unexpandedSweep } from "../src/sweeps/unexpanded.ts";
import { handlerContext, mailbox, marksInMemory, profilesOf, profileWith } from "./support.ts";

let cdl: CdlWriter;
let reporter: TestWorker;

beforeEach(async () => {
  const { connect } = await testZooKeeper();
  reporter = await testWorker(connect, "reporter");
  cdl = await cdlWriter(connect);
});
afterEach(async () => {
  await Promise.all([reporter.close(), cdl.close()]);
});

const submission = { profile: "sluice_demo_content", type: "file", filename: "x.zip" };
const configuration = { profile: "sluice_demo_content", type: "file", filename: "x.zip" };

async function listed(state: BatchState, jobs: readonly string[]) {
  const batch = await cdl.createBatch({ submission, status: state });
  const ids = [];
  for (const status of jobs) ids.push(await cdl.createJob({ batch, configuration, status }));
  const id = parseBatchId(batch)!;
  await cdl.put(paths.fleetBatch(state, id));
  return { id, jobs: ids };
}

const sweepContext = (): SweepContext => ({ ...handlerContext(), queue: reporter.ctx, worker: reporter.actor.worker });

test.each([
  ["Reporting", ["Estimating"]],
  ["Reporting", []],
  ["UpdateReporting", ["Failed"]],
] as const)("one in %s with %j is not claimed: no report is made of it", async (state, jobs) => {
  const { id } = await listed(state, jobs);
  const store = makeBatchStore(reporter.ctx, reporter.actor);
  expect(await store.claim(state, id)).toMatchObject({ kind: "broken", problem: expect.stringContaining("imported") });
});

test("a job under way keeps a batch of ours from being claimed for its report", async () => {
  const { id } = await listed("Reporting", ["Estimating"]);
  await cdl.put(paths.expansion(id), '{"rows":1,"created":1,"digest":"","reports":0,"op":"x"}');
  const store = makeBatchStore(reporter.ctx, reporter.actor);
  expect(await store.claim("Reporting", id)).toMatchObject({
    kind: "broken",
    problem: expect.stringContaining("1 job"),
  });
});

test("a failed one with jobs is not said to have ingested nothing, and its ended jobs keep their entries", async () => {
  const { id } = await listed("Failed", ["Completed", "Deleted", "Failed"]);
  const mailer = mailbox();
  const before = await tree(reporter.session, { except: /^\/(fleet|zookeeper)/ });
  const profiles = profilesOf(profileWith(["Notification.1: anna@example.org"]));
  await unexpandedSweep({ profiles, mailer, marks: marksInMemory(), subjectTag: "" }, 0).run(sweepContext());
  const folders = { removeJob: () => Promise.reject(new Error("a folder was to be removed")) };
  for (const state of ["Completed", "Deleted"] as const) await endedJobsSweep(state, folders, 0).run(sweepContext());
  expect(mailer.mails).toEqual([]);
  expect(await reporter.session.exists(paths.batchReport(id))).toMatchObject({ value: null });
  expect(await tree(reporter.session, { except: /^\/(fleet|zookeeper)/ })).toEqual(before);
});

test("one that is over is not cleaned up", async () => {
  const { id } = await listed("Completed", ["Completed"]);
  const before = await tree(reporter.session);
  expect(await cleanUpBatch(reporter.ctx, id)).toMatchObject({
    kind: "not-yet",
    why: expect.stringContaining("imported"),
  });
  expect(await tree(reporter.session)).toEqual(before);
});
