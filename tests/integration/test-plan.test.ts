/**
 * Merritt's test plan for its queue, with the whole fleet as real processes: a hold in the middle of a batch, a pause, a failure in
 * each phase with a requeue from there, reports of what was mended. Operators act through queue-core, as their tools do.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import {
  actOnBatch,
  actOnJob,
  type BatchId,
  type BatchView,
  formatTimestamp,
  type JobId,
  jobRow,
  type JobState,
  listBucket,
  orderJobs,
  paths,
  readBatch,
  readJob,
  readJobs,
  releaseHold,
  resumeJob,
  setHold,
  stateOf,
} from "@sluice/queue-core";
import {
  checkInvariants,
  describeViolation,
  type OwnZooKeeper,
  ownZooKeeper,
  type TestWorker,
  testWorker,
  waitFor,
  numbered,
} from "@sluice/testkit";
import { type Content, receiveCallbacks, type Receiver, serveContent } from "../support/content.ts";
import { inventoryCounts, mails, readMail, storedObjects } from "../support/effects.ts";
import {
  type Fleet,
  makeFleet,
  PIPELINE_SERVICES,
  PROFILE,
  type Running,
  type ServiceName,
  untilReady,
} from "../support/fleet.ts";
import { untilStopped } from "../support/processes.ts";
import { untilReported } from "../support/watch.ts";

const OPERATOR = { name: "olga", reason: "the test plan" };
const COLLECTION = { kind: "collection", profile: PROFILE } as const;
const LAST_STAGE = { kind: "stage", stage: "notifier" } as const;
const APPLIED = { kind: "applied" };
/** Several transactions of 25 rows: there is a middle to act in. */
const ROWS = 60;
/** An intake that stops itself after its first transaction of rows: it is in the middle until the test continues it. */
const STOPS_IN_THE_MIDDLE = { FAILPOINTS: "batch-intake.midEffect=stop#1", ZK_SESSION_TIMEOUT_MS: "60000" };

let zk: OwnZooKeeper;
let fleet: Fleet;
let content: Content;
let receiver: Receiver;
let intake: Running;
let reporter: Running;
let operator: TestWorker;

beforeAll(async () => {
  [zk, content, receiver] = await Promise.all([ownZooKeeper(), serveContent(), receiveCallbacks()]);
  const env = { SWEEP_INTERVAL_MS: "300" };
  fleet = await makeFleet({ zookeeper: zk.connect, callbackUrl: receiver.url, queuedMails: true, env });
  const running = await fleet.startAll();
  const serviceOf = (name: ServiceName): Running => running.find(({ service }) => service === name)!;
  [intake, reporter] = [serviceOf("batch-intake"), serviceOf("reporter")];
  operator = await testWorker(zk.connect, "operator", { register: false });
});
afterAll(async () => {
  await operator.close();
  await fleet.stop();
  await Promise.all([zk.stop(), content.close(), receiver.close()]);
});

const submit = (rows: number, series: string, to: Running = intake): Promise<BatchId> =>
  fleet.submit(to, { payload_url: content.batchManifest(rows, series), type: "single-file-batch-manifest" });

async function batchNow(id: BatchId): Promise<BatchView> {
  const view = await readBatch(operator.session, id);
  if (view.kind !== "found") throw new Error(`${id}: ${view.kind}`);
  return view.value;
}

const createdOf = async (id: BatchId): Promise<number> => (await batchNow(id)).expansion?.created ?? 0;

async function startIntake(env?: Readonly<Record<string, string>>): Promise<Running> {
  const started = await fleet.start("batch-intake", env);
  await untilReady(started);
  return started;
}

/** A batch of which the first rows are jobs. One intake is stopped in it; another one starts these jobs meanwhile. */
async function halfExpanded(series: string): Promise<{ readonly id: BatchId; readonly expander: Running }> {
  await intake.child.kill("SIGTERM");
  const expander = await startIntake(STOPS_IN_THE_MIDDLE);
  const id = await submit(ROWS, series, expander);
  await untilStopped(expander.child.pid, "the intake in the middle");
  const created = await createdOf(id);
  expect(created).toBeGreaterThan(0);
  expect(created).toBeLessThan(ROWS);
  intake = await startIntake();
  return { id, expander };
}

async function jobsIn(state: JobState): Promise<number> {
  const listed = await operator.session.children(paths.queue(state));
  return listed.ok ? listed.value.names.length : -1;
}

const untilIn = (state: JobState, count: number): Promise<unknown> =>
  waitFor(async () => (await jobsIn(state)) === count, { what: `${count} jobs in ${state}` });

async function statusOf(id: JobId) {
  const view = await readJob(operator.session, id);
  if (view.kind !== "found") throw new Error(`${id}: ${view.kind}`);
  return view.value.status;
}

/** Of the objects with these local ids: in how many versions they are stored. */
async function versionsOf(jobs: readonly JobId[]): Promise<readonly string[]> {
  const views = (await readJobs(operator.session, jobs)) ?? [];
  const arks = new Set(views.map((view) => (view.kind === "found" ? view.value.identifiers?.primary_id : "")));
  const stored = await storedObjects(join(fleet.dataDir, "store"));
  return stored.filter(({ id }) => arks.has(id)).map(({ head }) => head);
}

const completedOf = async (id: BatchId): Promise<readonly JobId[]> =>
  (await listBucket(operator.session, id, "batch-completed")) ?? [];

const versionsOnce = (count: number): readonly string[] => Array.from({ length: count }, () => "v1");

const mailsOf = async (id: BatchId): Promise<readonly string[]> =>
  (await mails(fleet.dataDir)).filter((name) => name.startsWith(`${id}.`));

describe("a hold set in the middle of an expansion", () => {
  test("stops further starts; a release is refused while it stands; then all of the batch completes", async () => {
    const { id, expander } = await halfExpanded("hold");
    await waitFor(async () => (await completedOf(id)).length > 0, { what: "a job that was started before the hold" });
    const queuedMail = `${id}.queued.eml`;
    await waitFor(async () => (await mailsOf(id)).includes(queuedMail), { what: "the mail that it is queued" });
    expect(await setHold(operator.ctx, OPERATOR, COLLECTION)).toEqual(APPLIED);
    await expander.child.kill("SIGCONT");
    // Every row becomes a job; those that had not been started are parked, the others go their way to the end.
    await waitFor(async () => (await createdOf(id)) === ROWS, { what: "all rows" });
    const held = await waitFor(
      async () => {
        const { counts } = await batchNow(id);
        const parked = await jobsIn("Held");
        return counts["batch-processing"] === parked && parked + counts["batch-completed"] === ROWS ? parked : null;
      },
      { what: "started jobs to end, others to be parked" },
    );
    expect(held).toBeGreaterThan(0);
    const refused = await orderJobs(operator.ctx, OPERATOR, { action: "release" }, { batch: id, states: ["Held"] });
    expect(refused.progress).toMatchObject({ total: held, done: 0 });
    expect((await batchNow(id)).status.status).toBe("Processing");

    expect(await releaseHold(operator.ctx, OPERATOR, COLLECTION)).toEqual(APPLIED);
    const released = await orderJobs(operator.ctx, OPERATOR, { action: "release" }, { batch: id, states: ["Held"] });
    expect(released.progress).toMatchObject({ total: held, done: held });
    expect(await untilReported(operator.session, id)).toBe("Completed");
    expect(await versionsOf(await completedOf(id))).toEqual(versionsOnce(ROWS));
    expect(await mailsOf(id)).toEqual([`${id}.1.eml`, queuedMail]);
    await expander.child.kill("SIGTERM");
  });

  test("parks a batch that comes later; with an end it is lifted by itself, and the batch goes on", async () => {
    let id: BatchId;
    // The reporter lifts holds whose end has come: stopped, it cannot do so before the batch has met this one.
    await reporter.child.kill("SIGSTOP");
    try {
      const hourAgo = { ...operator.ctx, clock: { ...operator.ctx.clock, nowMs: () => Date.now() - 3_600_000 } };
      const until = formatTimestamp(Date.now() - 60_000);
      expect(await setHold(hourAgo, OPERATOR, COLLECTION, until)).toEqual(APPLIED);
      id = await submit(2, "until");
      await waitFor(async () => (await batchNow(id)).status.status === "Held", { what: "the batch parked" });
      expect((await batchNow(id)).status.message).toBe(`collection ${PROFILE} is held until ${until}`);
    } finally {
      await reporter.child.kill("SIGCONT");
    }
    expect(await untilReported(operator.session, id)).toBe("Completed");
  });
});

describe("a pause of the queue in the middle of a batch", () => {
  test("lets running work end and starts nothing; then all of the batch completes", async () => {
    // Nothing passes the last stage: however fast the others are, the batch has jobs when the pause comes.
    expect(await setHold(operator.ctx, OPERATOR, LAST_STAGE)).toEqual(APPLIED);
    const { id, expander } = await halfExpanded("pause");
    await waitFor(async () => (await jobsIn("Notify")) > 0, { what: "a job that was started before the pause" });
    expect(await setHold(operator.ctx, OPERATOR, { kind: "queue" })).toEqual(APPLIED);
    await expander.child.kill("SIGCONT");
    await waitFor(async () => (await expander.log()).includes('"why":"the queue is paused"'), {
      what: "intake at rest",
    });
    const created = await createdOf(id);
    await waitFor(
      async () => {
        const jobs = (await listBucket(operator.session, id, "batch-processing")) ?? [];
        const views = (await readJobs(operator.session, jobs)) ?? [];
        return views.every((view) => view.kind === "found" && view.value.lock === null);
      },
      { what: "nobody at work" },
    );
    const rest = await batchNow(id);
    expect(rest.counts["batch-processing"]).toBeGreaterThan(0);
    expect(rest.expansion).toMatchObject({ created, rows: ROWS });
    expect(created).toBeLessThan(ROWS);

    for (const target of [LAST_STAGE, { kind: "queue" } as const])
      expect(await releaseHold(operator.ctx, OPERATOR, target)).toEqual(APPLIED);
    expect(await untilReported(operator.session, id)).toBe("Completed");
    expect(await versionsOf(await completedOf(id))).toEqual(versionsOnce(ROWS));
  });
});

describe("a failure in each phase", () => {
  const stages = PIPELINE_SERVICES.filter((stage) => stage !== "batch-intake" && stateOf(stage) !== null);
  const phases = stages.map((stage) => stateOf(stage)!);
  let id: BatchId;
  let jobs: readonly JobId[];

  async function updateReport(): Promise<string> {
    expect(await actOnBatch(operator.ctx, OPERATOR, "update-reporting", id)).toEqual(APPLIED);
    return await untilReported(operator.session, id);
  }

  async function resume(which: readonly JobId[], at?: JobState): Promise<void> {
    for (const job of which) expect(await resumeJob(operator.ctx, OPERATOR, job, at)).toEqual(APPLIED);
  }

  const untilCompleted = (which: readonly JobId[]): Promise<unknown> =>
    waitFor(async () => (await Promise.all(which.map(statusOf))).every(({ status }) => status === "Completed"), {
      what: `${which.length} jobs completed`,
    });

  test(`${phases.join(", ")}: one job fails in each, and the report says so`, async () => {
    for (const stage of stages) await setHold(operator.ctx, OPERATOR, { kind: "stage", stage });
    id = await submit(phases.length, "phases");
    await untilIn("Estimating", phases.length);
    jobs = (await listBucket(operator.session, id, "batch-processing")) ?? [];
    for (const [i, phase] of phases.entries()) {
      await untilIn(phase, phases.length - i);
      expect(await actOnJob(operator.ctx, OPERATOR, "fail", jobs[i]!)).toEqual(APPLIED);
      expect(await releaseHold(operator.ctx, OPERATOR, { kind: "stage", stage: stages[i]! })).toEqual(APPLIED);
    }
    expect(await untilReported(operator.session, id)).toBe("Failed");
    const last = await Promise.all(jobs.map(async (job) => (await statusOf(job)).last_successful_status));
    expect(last.map((state) => jobRow(state!).done)).toEqual(phases);
    expect((await mailsOf(id)).filter((name) => !name.includes("queued"))).toEqual([`${id}.1.eml`]);
  });

  /** Of this batch's jobs, by number. */
  const keysTold = async (): Promise<readonly string[]> => {
    const keys = await Promise.all(receiver.keys.map((key) => numbered(operator.session, key)));
    return keys.filter((key) => jobs.some((job) => key.startsWith(job))).sort();
  };
  const untilTold = (keys: readonly string[]): Promise<unknown> =>
    waitFor(
      async () => {
        const told = await keysTold();
        return keys.every((key) => told.includes(key));
      },
      { what: "all callbacks" },
    );
  /** What was stored before it failed is no failure to the depositor's system. */
  const failuresTold = (): readonly string[] =>
    jobs.slice(0, phases.indexOf("Recording")).map((job) => `${job}.FAILED.0`);

  test("the depositor's system is told of those whose objects are not stored", async () => {
    await untilTold(failuresTold());
    await waitFor(
      async () => {
        const left = await operator.session.children(paths.callbacks);
        return left.ok && left.value.names.length === 0;
      },
      { what: "no news of failures left" },
    );
    expect(await keysTold()).toEqual(failuresTold());
  });

  test("an update report tells nothing when nothing has changed: it has its number, and no mail", async () => {
    expect(await updateReport()).toBe("Failed");
    expect((await mailsOf(id)).filter((name) => !name.includes("queued"))).toEqual([`${id}.1.eml`]);
  });

  test("resumed where they failed, half of them complete; the update tells these, and what is still failed", async () => {
    const half = jobs.slice(0, 3);
    await resume(half);
    await untilCompleted(half);
    expect(await updateReport()).toBe("Failed");
    const mail = await readMail(fleet.dataDir, `${id}.3.eml`);
    expect(mail).toMatch(/^Subject: Ingest: FAIL -- Submission Processed:\s+bid-\S+;\s+update 2\r$/m);
    expect(mail).toContain("Completed jobs: 3");
    expect(mail).toContain("Failed jobs: 3");
  });

  test("the others are resumed at earlier stages of the operator's choice, and end with one version too", async () => {
    const [processing, recording, notifying] = jobs.slice(3) as [JobId, JobId, JobId];
    await resume([processing], "Downloading");
    await resume([recording], "Processing");
    await resume([notifying], "Estimating");
    await untilCompleted(jobs);
    expect(await updateReport()).toBe("Completed");
    expect((await mailsOf(id)).filter((name) => !name.includes("queued"))).toEqual(
      [1, 3, 4].map((n) => `${id}.${n}.eml`),
    );
    expect(await versionsOf(jobs)).toEqual(versionsOnce(phases.length));
  });

  test("the depositor's system was told of each success once", async () => {
    const told = [...failuresTold(), ...jobs.map((job) => `${job}.COMPLETED.1`)].sort();
    await untilTold(told);
    expect(await keysTold()).toEqual(told);
  });
});

test("everything was recorded once, and every invariant kept at every zxid", () => {
  const { objects, versions } = inventoryCounts(join(fleet.dataDir, "inventory.db"));
  expect([objects, versions]).toEqual([2 * ROWS + 2 + 6, 2 * ROWS + 2 + 6]);
  expect(checkInvariants({ logDir: zk.logDir, root: "/" }).violations.map(describeViolation)).toEqual([]);
});
