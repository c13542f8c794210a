import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  actOnJob,
  type BatchId,
  formatTimestamp,
  type HoldTarget,
  type JobId,
  parkReason,
  paths,
  readBatch,
  readHolds,
  readJob,
  records,
  releaseHold,
  setHold,
} from "@sluice/queue-core";
import {
  aBatch,
  aBatchOfJobs,
  checkInvariants,
  claimJob,
  describeViolation,
  type TestWorker,
  testWorker,
  type TestZooKeeper,
  testZooKeeper,
} from "@sluice/testkit";
import { endedHoldsSweep } from "../src/sweeps/ended-holds.ts";
import { handlerContext } from "./support.ts";

const OPERATOR = { name: "olga", reason: "maintenance" };
const COLLECTION = { kind: "collection", profile: "sluice_demo_content" } as const;
const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => formatTimestamp(Date.now() + hours * HOUR_MS);

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
  await Promise.all([intake, reporter, operator].map((worker) => worker.close()));
  const { logDir, root } = zk;
  expect(checkInvariants({ logDir, root }).violations.map(describeViolation)).toEqual([]);
});

/** The sweep as it will run in so many hours; answers with what it counted. */
async function sweepIn(hours: number, failpoint: (step: string) => Promise<void> = () => Promise.resolve()) {
  const counted: string[] = [];
  const clock = { ...reporter.ctx.clock, nowMs: () => Date.now() + hours * HOUR_MS };
  const counters = {
    onLifted: (kind: string) => void counted.push(`lifted ${kind}`),
    onReleased: (what: string, count: number) => void counted.push(`released ${count} ${what}`),
  };
  const queue = { ...reporter.ctx, clock };
  await endedHoldsSweep(counters, 1).run({ ...handlerContext(), clock, failpoint, queue, worker: "reporter-1" });
  return counted;
}

async function parkReasonNow(): Promise<string> {
  const holds = await readHolds(intake.session);
  if (!holds.ok) throw new Error(holds.code);
  return parkReason(holds.value, COLLECTION.profile);
}

/** Its batch was started before the hold. */
const aJob = async (): Promise<JobId> => (await aBatchOfJobs(intake, 1)).jobs[0]!;

async function park(id: JobId): Promise<void> {
  await intake.jobs.commit(await claimJob(intake, "Pending", id), { kind: "park", why: await parkReasonNow() });
}

async function aParkedBatch(): Promise<BatchId> {
  const id = await aBatch(intake);
  const claim = await intake.batches.claim("Pending", id);
  if (claim.kind !== "acquired") throw new Error(claim.kind);
  await intake.batches.settle(claim.loaded, { kind: "park", why: await parkReasonNow() });
  return id;
}

async function stateOf(id: JobId): Promise<string> {
  const view = await readJob(operator.session, id);
  return view.kind === "found" ? view.value.status.status : view.kind;
}

async function lastAudit() {
  const head = await operator.session.get(paths.auditHead);
  const number = head.ok ? records.auditHead.decode(head.value.data) : null;
  if (number?.ok !== true) throw new Error("no audit");
  const record = await operator.session.get(paths.auditRecord(number.value.number));
  return record.ok ? records.auditRecord.decode(record.value.data) : record;
}

describe("a hold with an end", () => {
  test.each<HoldTarget>([
    COLLECTION,
    { kind: "queue" },
    { kind: "stage", stage: "downloader" },
    { kind: "worker", worker: "downloader-1" },
  ])("is lifted when its time has come and not before: %j", async (target) => {
    await setHold(operator.ctx, OPERATOR, target, inHours(2));
    expect(await sweepIn(1)).toEqual([]);
    expect(await sweepIn(3)).toEqual([`lifted ${target.kind}`]);
    expect(await lastAudit()).toMatchObject({ value: { actor: "system", action: `${target.kind}.release` } });
    expect(await sweepIn(3)).toEqual([]);
    expect(await setHold(operator.ctx, OPERATOR, target)).toEqual({ kind: "applied" });
  });

  test("stays if its end is no time, as another program may have written it", async () => {
    const hold = { by: "olga", since: "", why: "", until: "Thursday" };
    await operator.session.multi([
      { op: "create", path: paths.collectionHold(COLLECTION.profile), data: records.hold.encode(hold) },
    ]);
    expect(await sweepIn(1_000)).toEqual([]);
  });

  test("lets go on what it had parked, jobs and batches", async () => {
    const job = await aJob();
    await setHold(operator.ctx, OPERATOR, COLLECTION, inHours(2));
    await park(job);
    const batch = await aParkedBatch();
    expect(await sweepIn(1)).toEqual([]);
    expect(await sweepIn(3)).toEqual(["lifted collection", "released 1 batch", "released 1 job"]);
    expect(await stateOf(job)).toBe("Pending");
    expect(await readBatch(operator.session, batch)).toMatchObject({ value: { status: { status: "Pending" } } });
  });

  test("lets them go on also if who lifted it died right then", async () => {
    const job = await aJob();
    await setHold(operator.ctx, OPERATOR, COLLECTION, inHours(2));
    await park(job);
    await expect(sweepIn(3, () => Promise.reject(new Error("died")))).rejects.toThrow("died");
    expect(await stateOf(job)).toBe("Held");
    expect(await sweepIn(3)).toEqual(["released 1 job"]);
    expect(await stateOf(job)).toBe("Pending");
  });

  test("leaves to operators what they held themselves, and what a hold without an end had parked", async () => {
    const [parked, held] = [await aJob(), await aJob()];
    await setHold(operator.ctx, OPERATOR, COLLECTION);
    await park(parked);
    await releaseHold(operator.ctx, OPERATOR, COLLECTION);
    await actOnJob(operator.ctx, OPERATOR, "hold", held);
    await setHold(operator.ctx, OPERATOR, COLLECTION, inHours(2));
    expect(await sweepIn(3)).toEqual(["lifted collection"]);
    expect([await stateOf(parked), await stateOf(held)]).toEqual(["Held", "Held"]);
  });

  test("that was followed by another hold keeps its jobs parked", async () => {
    const job = await aJob();
    await setHold(operator.ctx, OPERATOR, COLLECTION, inHours(2));
    await park(job);
    await releaseHold(operator.ctx, OPERATOR, COLLECTION);
    await setHold(operator.ctx, OPERATOR, COLLECTION);
    expect(await sweepIn(3)).toEqual([]);
    expect(await stateOf(job)).toBe("Held");
  });
});
