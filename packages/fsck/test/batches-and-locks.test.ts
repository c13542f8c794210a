/** Faults of batches that are over, of jobs without one, and of locks: each planted in a real tree. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type BatchId, type JobId, paths, records } from "@sluice/queue-core";
import { aBatchOfJobs } from "@sluice/testkit";
import { repair } from "../src/index.ts";
import { Bench, OLGA, short } from "./support.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const NOBATCH = "bid0000000999" as BatchId;
const MOMENT = "2026-11-16 08:00:00 +0000";
const statusOf = (status: string): string => JSON.stringify({ status, last_modified: MOMENT, message: "" });
const reportOf = (successful: readonly string[]): string =>
  JSON.stringify({ last_modified: MOMENT, failed_jobs: [], successful_jobs: successful });

const BUCKET = { Completed: "batch-completed", Failed: "batch-failed" } as const;

/** From where it is; Completed ones are no longer in a queue, as after the reporter's sweep. */
async function endJob(job: JobId, from: "Pending" | "Completed", to: "Completed" | "Failed"): Promise<void> {
  const status = {
    status: to,
    last_modified: MOMENT,
    last_successful_status: "Recording",
    retry_count: 0,
    message: "",
  };
  await bench.write(paths.jobStatus(job), JSON.stringify(status));
  if (from === "Pending") await bench.remove(paths.queueEntry("Pending", 5, job));
  if (to === "Failed") await bench.create(paths.queueEntry("Failed", 5, job));
  await bench.remove(paths.bucketEntry(bench.batch, from === "Pending" ? "batch-processing" : BUCKET[from], job));
  await bench.create(paths.bucketEntry(bench.batch, BUCKET[to], job));
}

/** All jobs done, reported and told: as a reporter leaves it. */
async function completed(): Promise<void> {
  const { batch, jobs } = bench;
  for (const job of jobs) await endJob(job, "Pending", "Completed");
  await bench.write(paths.batchStatus(batch), statusOf("Completed"));
  await bench.create(paths.batchReport(batch), Buffer.from(reportOf(jobs)));
  await bench.remove(paths.fleetBatch("Processing", batch));
  expect(short(await bench.look())).toEqual([]);
}

async function isMended(rule: string): Promise<void> {
  const report = await bench.look();
  expect(short(report)).toEqual([rule]);
  expect(await repair(bench.operator.ctx, OLGA, report.findings[0]!)).toEqual({ kind: "applied" });
  expect(short(await bench.look())).toEqual([]);
}

async function isLeftToHumans(rule: string, ...others: readonly string[]): Promise<void> {
  const report = await bench.look();
  expect(short(report)).toEqual([rule, ...others]);
  expect(report.findings[0]).toMatchObject({ human: expect.any(String) });
  expect(await repair(bench.operator.ctx, OLGA, report.findings[0]!)).toMatchObject({ kind: "refused" });
}

describe("a completed batch", () => {
  test("with a failed job is found", async () => {
    await completed();
    const { batch, jobs } = bench;
    await endJob(jobs[0]!, "Completed", "Failed");
    await isLeftToHumans(`I-13 ${paths.batchStatus(batch)}`, `I-12 ${paths.batchReport(batch)}`);
  });

  test.each<[string, () => Promise<void>]>([
    ["leaves one out", () => bench.write(paths.batchReport(bench.batch), reportOf(bench.jobs.slice(1)))],
    [
      "lists a stranger",
      () => bench.write(paths.batchReport(bench.batch), reportOf(["jid0000000999", ...bench.jobs.slice(1)])),
    ],
    ["is gone", () => bench.remove(paths.batchReport(bench.batch))],
  ])("whose report %s is found", async (_how, plant) => {
    await completed();
    await plant();
    await isLeftToHumans(`I-12 ${paths.batchReport(bench.batch)}`);
  });

  test("that is being cleaned up is no fault", async () => {
    await completed();
    const job = bench.jobs[0]!;
    await bench.removeAll(paths.job(job));
    await bench.remove(paths.fleetJob(job));
    await bench.remove(paths.bucketEntry(bench.batch, "batch-completed", job));
    expect(short(await bench.look())).toEqual([]);
  });
});

describe("a job whose batch", () => {
  const aJobOf = (batch: BatchId): string => paths.bucketEntry(batch, "batch-processing", bench.jobs[0]!);

  test("is one of two that list it leaves the other", async () => {
    const other = await aBatchOfJobs(bench.intake, 1);
    await bench.create(aJobOf(other.batch));
    const report = await bench.look();
    expect(short(report)).toContain(`I-06 ${paths.jobStatus(bench.jobs[0]!)}`);
    const wrong = report.findings.find(({ rule }) => rule === "I-06")!;
    expect(await repair(bench.operator.ctx, OLGA, wrong)).toEqual({ kind: "applied" });
    expect(short(await bench.look())).toEqual([]);
    expect((await bench.foreign.get(aJobOf(bench.batch))).ok).toBe(true);
  });

  test("is gone is kept for a human while it is not over", async () => {
    await bench.write(paths.jobBid(bench.jobs[0]!), NOBATCH);
    const report = await bench.look();
    const lost = report.findings.find(({ path }) => path === paths.jobBid(bench.jobs[0]!))!;
    expect(lost).toMatchObject({ rule: "I-06", human: expect.stringContaining("snapshot") });
    expect(await repair(bench.operator.ctx, OLGA, lost)).toMatchObject({ kind: "refused" });
  });

  test("is gone is removed when it is over", async () => {
    const [job] = bench.jobs as readonly [JobId];
    await endJob(job, "Pending", "Completed");
    await bench.remove(paths.bucketEntry(bench.batch, "batch-completed", job));
    await bench.write(paths.expansion(bench.batch), '{"rows":3,"created":2,"digest":"","reports":0,"op":"x"}');
    await bench.write(paths.jobBid(job), NOBATCH);
    await isMended(`I-06 ${paths.jobBid(job)}`);
    expect((await bench.foreign.get(paths.job(job))).ok).toBe(false);
  });
});

describe("UUIDs", () => {
  test("of which two name one batch are left to a human", async () => {
    await bench.create(`${paths.batchUuids}/bid-other`, records.bid.encode(bench.batch));
    await isLeftToHumans(`I-09 ${paths.batchUuids}/bid-other`);
  });

  test("that name another batch than was submitted under them are left to a human", async () => {
    const other = await aBatchOfJobs(bench.intake, 1);
    const submission = await bench.foreign.get(paths.batchSubmission(bench.batch));
    const uuid = submission.ok ? (JSON.parse(submission.value.data.toString()) as { batchID: string }).batchID : "";
    await bench.write(`${paths.batchUuids}/${uuid}`, other.batch);
    const found = short(await bench.look());
    expect(new Set(found)).toEqual(new Set([`I-09 ${paths.batchUuids}/${uuid}`]));
  });
});

test("reports of a batch that is gone are kept: they may be its only trace", async () => {
  await bench.create(paths.batchReports(NOBATCH));
  await isLeftToHumans(`ORPHAN ${paths.batchReports(NOBATCH)}`);
});

describe("a lock", () => {
  const later = { lockMs: -60_000 };

  test("of a batch that rests is removed", async () => {
    await completed();
    await bench.create(paths.batchLock(bench.batch));
    await isMended(`I-21 ${paths.batchLock(bench.batch)}`);
  });

  test("of a batch at work that no session takes away is removed when it is old", async () => {
    await bench.create(paths.batchLock(bench.batch));
    expect(short(await bench.look())).toEqual([]);
    const report = await bench.look(later);
    expect(short(report)).toEqual([`I-22 ${paths.batchLock(bench.batch)}`]);
    expect(await repair(bench.operator.ctx, OLGA, report.findings[0]!, later)).toEqual({ kind: "applied" });
    expect(short(await bench.look(later))).toEqual([]);
  });

  test.each([
    ["an object's store", paths.storageLocks],
    ["an object's inventory", paths.inventoryLocks],
    ["a local id", paths.localIdLocks],
  ])("of %s that nobody at work has is left to a human when it is old", async (_of, directory) => {
    const path = `${directory}/ark--99999-fk4abc`;
    await bench.create(path);
    expect(short(await bench.look())).toEqual([]);
    const report = await bench.look(later);
    expect(short(report)).toEqual([`I-22 ${path}`]);
    expect(report.findings[0]).toMatchObject({ what: "is not ephemeral", human: expect.any(String) });
  });

  test("of an object that a registered worker has is none, however old", async () => {
    const path = `${paths.storageLocks}/ark--99999-fk4abc`;
    const data = Buffer.from("{}");
    await bench.intake.session.multi([{ op: "create", path, data, ephemeral: true }]);
    expect(short(await bench.look(later))).toEqual([]);
  });
});
