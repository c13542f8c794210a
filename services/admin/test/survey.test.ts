import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { actOnJob, paths, setHold } from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import { aBatch, aBatchOfJobs, advance, claimJob, type TestWorker, testWorker, testZooKeeper } from "@sluice/testkit";
import { type Session, systemClock } from "@sluice/zookeeper";
import { readSurvey } from "../src/read-survey.ts";
import { makeSurveyor } from "../src/surveyor.ts";
import type { FleetSurvey } from "../src/survey.ts";

const OPERATOR = { name: "olga", reason: "because" };

describe("a look at the fleet", () => {
  let connect: string;
  let intake: TestWorker;
  let operator: TestWorker;
  beforeEach(async () => {
    ({ connect } = await testZooKeeper());
    intake = await testWorker(connect, "batch-intake");
    operator = await testWorker(connect, "operator", { register: false });
  });
  afterEach(async () => {
    await Promise.all([intake.close(), operator.close()]);
  });

  const survey = async (session: Session = operator.session): Promise<FleetSurvey> => {
    const seen = await readSurvey(session, operator.identity.history, 0);
    if (seen === null) throw new Error("no answer");
    return seen;
  };
  /** The operator's session with another time of the server. */
  const at = (serverNowMs: number): Session =>
    Object.assign(Object.create(operator.session) as Session, {
      serverNowMs: () => serverNowMs,
      children: operator.session.children.bind(operator.session),
      readMany: operator.session.readMany.bind(operator.session),
      readEach: operator.session.readEach.bind(operator.session),
    });
  const madeAt = async (path: string): Promise<number> => {
    const node = await operator.session.get(path);
    return node.ok ? node.value.stat.ctime : Number.NaN;
  };
  const stageOf = ({ stages }: FleetSurvey, stage: string) => stages.find((each) => each.stage === stage)!;

  test("counts jobs, batches and workers", async () => {
    const { jobs } = await aBatchOfJobs(intake, 3);
    await aBatch(intake);
    await advance(connect, jobs[0]!, "Provisioning");
    const seen = await survey();
    expect(seen.jobs).toMatchObject({ Pending: 2, Estimating: 0, Provisioning: 1, Failed: 0 });
    expect(seen.batches).toMatchObject({ Pending: 1, Processing: 1 });
    expect(stageOf(seen, "batch-intake")).toMatchObject({ waiting: 3, ready: 3, workers: 1, exact: true });
    expect(stageOf(seen, "provisioner")).toMatchObject({ waiting: 1, ready: 1, workers: 0 });
  });

  test("calls ready only what a worker could take now", async () => {
    const { jobs } = await aBatchOfJobs(intake, 3);
    const inHand = await claimJob(intake, "Pending", jobs[0]!);
    const putOff = await claimJob(intake, "Pending", jobs[1]!);
    await intake.jobs.giveBack(putOff.lease, "snooze", { delayMs: 3_600_000, why: "later", countsAttempt: false });
    expect(stageOf(await survey(), "batch-intake")).toMatchObject({ waiting: 3, ready: 1 });
    await intake.jobs.giveBack(inHand.lease, "handback", { delayMs: 0, why: "", countsAttempt: false });
    expect(stageOf(await survey(), "batch-intake")).toMatchObject({ waiting: 3, ready: 2 });
  });

  test("measures the age of the oldest ready job by the server's clock", async () => {
    const { jobs } = await aBatchOfJobs(intake, 2);
    const first = await operator.session.get(paths.fleetJob(jobs[0]!));
    const madeAtMs = first.ok ? first.value.stat.mtime : Number.NaN;
    const later = at(madeAtMs + 90_000);
    expect(stageOf(await survey(later), "batch-intake").oldestReadyAgeMs).toBe(90_000);
    expect(stageOf(await survey(later), "estimator").oldestReadyAgeMs).toBe(0);
  });

  test("measures how long a job has been in somebody's hands", async () => {
    const { jobs } = await aBatchOfJobs(intake, 2);
    const inHand = await claimJob(intake, "Pending", jobs[0]!);
    const lockedAtMs = await madeAt(paths.jobLock(jobs[0]!));
    const later = at(lockedAtMs + 90_000);
    expect(stageOf(await survey(later), "batch-intake").oldestLockAgeMs).toBe(90_000);
    await intake.jobs.giveBack(inHand.lease, "handback", { delayMs: 0, why: "", countsAttempt: false });
    expect(stageOf(await survey(later), "batch-intake").oldestLockAgeMs).toBe(0);
  });

  test("takes a batch in somebody's hands for work in hand, not for ready work", async () => {
    const waiting = await aBatch(intake);
    const expanded = await aBatch(intake);
    expect(await intake.batches.claim("Pending", expanded)).toMatchObject({ kind: "acquired" });
    const later = at((await madeAt(paths.batchLock(expanded))) + 90_000);
    const seen = stageOf(await survey(later), "batch-intake");
    expect(seen).toMatchObject({ waiting: 2, ready: 1, oldestLockAgeMs: 90_000 });
    const madeAtMs = await madeAt(paths.fleetBatch("Pending", waiting));
    expect(seen.oldestReadyAgeMs).toBe(later.serverNowMs() - madeAtMs);
  });

  test("measures how long the expansion of a batch has been in hand, though it is no longer Pending", async () => {
    const { batch } = await aBatchOfJobs(intake, 1);
    expect(await intake.batches.claim("Processing", batch)).toMatchObject({ kind: "acquired" });
    const later = at((await madeAt(paths.batchLock(batch))) + 90_000);
    expect(stageOf(await survey(later), "batch-intake").oldestLockAgeMs).toBe(90_000);
  });

  test("measures how long the oldest batch of each open state has been in it", async () => {
    const { batch } = await aBatchOfJobs(intake, 1);
    await aBatchOfJobs(intake, 1);
    const sinceMs = await madeAt(paths.fleetBatch("Processing", batch));
    const { batchAgesMs } = await survey(at(sinceMs + 86_400_000));
    expect(Object.fromEntries(batchAgesMs)).toEqual({
      Pending: 0,
      Held: 0,
      Processing: 86_400_000,
      Reporting: 0,
      UpdateReporting: 0,
    });
  });

  test("finds nothing ready in a queue that is paused, nor in a stage that is", async () => {
    await aBatchOfJobs(intake, 2);
    expect(await setHold(operator.ctx, OPERATOR, { kind: "stage", stage: "batch-intake" })).toMatchObject({
      kind: "applied",
    });
    const seen = await survey();
    expect(stageOf(seen, "batch-intake")).toMatchObject({ waiting: 2, ready: 0, oldestReadyAgeMs: 0, paused: true });
    expect(stageOf(seen, "estimator")).toMatchObject({ paused: false });
    await setHold(operator.ctx, OPERATOR, { kind: "queue" });
    expect((await survey()).stages.every(({ paused }) => paused)).toBe(true);
  });

  test("counts due batches and callbacks as work of reporter and notifier", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    expect(await actOnJob(operator.ctx, OPERATOR, "fail", jobs[0]!)).toMatchObject({ kind: "applied" });
    await operator.session.multi([{ op: "create", path: paths.dueBatch(batch), data: Buffer.alloc(0) }]);
    const seen = await survey();
    expect(stageOf(seen, "reporter")).toMatchObject({ waiting: 2, ready: 2, state: null });
    expect(stageOf(seen, "notifier")).toMatchObject({ waiting: 1, ready: 1 });
  });

  test("is taken once however many ask, and costs the same number of round trips at any depth", async () => {
    await aBatchOfJobs(intake, 450);
    let reads = 0;
    let mostRead = 0;
    const count = (list: Parameters<Session["readMany"]>[0]): typeof list => {
      reads += 1;
      mostRead = Math.max(mostRead, list.length);
      return list;
    };
    const counted: Session = Object.assign(Object.create(operator.session) as Session, {
      serverNowMs: () => operator.session.serverNowMs(),
      children: operator.session.children.bind(operator.session),
      readMany: (list: Parameters<Session["readMany"]>[0]) => operator.session.readMany(count(list)),
      readEach: (list: Parameters<Session["readEach"]>[0]) => operator.session.readEach(count(list)),
    });
    const open: OpenQueue = { context: { ...operator.ctx, session: counted }, identity: operator.identity };
    const surveyor = makeSurveyor(() => open, systemClock, 60_000);
    const seen = await Promise.all(Array.from({ length: 20 }, () => surveyor.survey()));
    expect(new Set(seen).size).toBe(1);
    expect(stageOf(seen[0]!, "batch-intake")).toMatchObject({ waiting: 450, ready: 450, exact: false });
    expect(reads).toBeLessThanOrEqual(6);
    expect(mostRead).toBeLessThanOrEqual(3 * 201);
  });
});
