/** A program with CDL's library has one stage of the tree: what of its work is taken over, and what is only noticed. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  aBatchOfJobs,
  advance,
  aJobSpec,
  cdlLibrary,
  type CdlLibrary,
  cdlWriter,
  claimJob,
  consumeOne,
  testWorker,
  type TestWorker,
  testZooKeeper,
  type TestZooKeeper,
} from "@sluice/testkit";
import {
  actOnJob,
  beginBeside,
  type Candidate,
  endBeside,
  type FleetJob,
  type JobId,
  type JobState,
  knownEvent,
  makeIdBlocks,
  OURS_FROM,
  parseBatchId,
  parseJobId,
  paths,
  peek,
  readJob,
  records,
  resumeJob,
} from "../src/index.ts";

const OPERATOR = { name: "olga", reason: "because" };
const CONFIGURATION = { profile_name: "sluice_demo_content", submitter: "a", payload_url: "http://127.0.0.1:9/x" };

let zk: TestZooKeeper;
let intake: TestWorker;
let notifier: TestWorker;
let library: CdlLibrary;

beforeEach(async () => {
  zk = await testZooKeeper();
  intake = await testWorker(zk.connect, "batch-intake");
  notifier = await testWorker(zk.connect, "notifier");
  library = await cdlLibrary(zk.connect);
});
afterEach(async () => {
  await Promise.all([intake.close(), notifier.close(), library.close()]);
});

const letIn = async (): Promise<void> => {
  expect(await beginBeside(intake.ctx, OPERATOR, "recorder")).toEqual({ kind: "applied" });
};

async function aJob(at: JobState = "Pending"): Promise<JobId> {
  const { jobs } = await aBatchOfJobs(intake, 1);
  await advance(zk.connect, jobs[0]!, at);
  return jobs[0]!;
}

/** Its batch and job, as far as its own intake brings them. */
async function theirJob(): Promise<JobId> {
  const batch = await library.createBatch({ profile_name: "sluice_demo_content" });
  const acquired = await library.acquirePendingBatch();
  await acquired?.unlock();
  const job = await library.createJob(batch.id, CONFIGURATION);
  return parseJobId(job.id)!;
}

async function look(state: JobState, id: JobId): Promise<Candidate> {
  const looked = await peek(notifier.session, state, [{ priority: 5, id }]);
  if (!looked.ok || looked.value[0] === undefined) throw new Error("no answer");
  return looked.value[0];
}

async function history(id: JobId): Promise<FleetJob> {
  const node = await intake.session.get(paths.fleetJob(id));
  const read = node.ok ? records.fleetJob.decode(node.value.data) : null;
  if (read?.ok !== true) throw new Error(`no history of ${id}`);
  return read.value;
}

const kinds = ({ events }: FleetJob): readonly (string | undefined)[] => events.map((event) => knownEvent(event)?.kind);

describe("its numbers", () => {
  test("and ours never meet, whoever makes jobs when, also from blocks that were reserved before", async () => {
    const blocks = makeIdBlocks(intake.ctx);
    const [before] = (await blocks.nextJobs(1)) ?? [];
    await letIn();
    const numbers: number[] = [];
    for (let round = 0; round < 4; round++) {
      const { jobs } = await aBatchOfJobs(intake, 2);
      for (const id of [...jobs, await theirJob()]) numbers.push(Number(id.slice(3)));
    }
    const theirs = numbers.filter((number) => number < OURS_FROM);
    expect(new Set(numbers).size).toBe(12);
    expect(theirs).toHaveLength(4);
    const [reserved] = (await blocks.nextJobs(1)) ?? [];
    expect(Number(reserved?.slice(3))).toBe(Number(before?.slice(3)) + 1);
    expect(Math.min(...theirs)).toBeGreaterThan(Number(reserved?.slice(3)));
  });

  test("would meet ours without that: each of its creates is refused", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    expect(jobs).toHaveLength(1);
    await expect(theirJob()).rejects.toThrow("NODE_EXISTS");
  });
});

describe("letting it in", () => {
  test("is done once, and ended by the same people", async () => {
    expect(await endBeside(intake.ctx, OPERATOR)).toMatchObject({ kind: "refused" });
    await letIn();
    expect(await beginBeside(intake.ctx, OPERATOR, "recorder")).toMatchObject({ kind: "refused" });
    expect(await endBeside(intake.ctx, OPERATOR)).toEqual({ kind: "applied" });
    await letIn();
  });
});

describe("a job that it has made", () => {
  test("gets a history by the claim, and the epoch in which it was met", async () => {
    await letIn();
    const id = await theirJob();
    const loaded = await claimJob(intake, "Pending", id);
    expect(loaded.job).toMatchObject({ attempt: 1, batchEpoch: intake.identity.epoch });
    expect(await intake.jobs.commit(loaded, { kind: "done", changes: {} })).toMatchObject({ to: "Estimating" });
    expect(kinds(await history(id))).toEqual(["adopt", "done"]);
    const view = await readJob(intake.session, id);
    expect(view).toMatchObject({ value: { configuration: { ...CONFIGURATION, epoch: intake.identity.epoch } } });
  });

  test("before it was let in is Merritt's own: left for an import", async () => {
    const writer = await cdlWriter(zk.connect);
    const batch = await writer.createBatch({ submission: { profile: "x" }, status: "Reporting" });
    const id = parseJobId(await writer.createJob({ batch, configuration: CONFIGURATION, status: "Pending" }))!;
    await writer.close();
    await letIn();
    expect(await look("Pending", id)).toEqual({ kind: "foreign", entry: { priority: 5, id } });
    expect(parseBatchId(batch)).not.toBeNull();
  });
});

describe("a job that it has moved", () => {
  test("goes on with its history, without the attempts and the wait of the stage before", async () => {
    const id = await aJob("Recording");
    await letIn();
    const recorder = await testWorker(zk.connect, "recorder");
    const tried = await claimJob(recorder, "Recording", id);
    await recorder.jobs.giveBack(tried.lease, "retry", { delayMs: 3_600_000, why: "away", countsAttempt: true });
    await recorder.close();
    expect(await consumeOne(library, "Recording", () => undefined)).toBe(true);
    const loaded = await claimJob(notifier, "Notify", id);
    expect(loaded.job).toMatchObject({ attempt: 1, lastSuccessful: "Recording" });
    expect(await notifier.jobs.commit(loaded, { kind: "done", changes: {} })).toMatchObject({ to: "Completed" });
    const events = (await history(id)).events.map((event) => knownEvent(event));
    expect(events.at(-2)).toMatchObject({ kind: "beside", state: "Recording", to: "Notify" });
    expect(events.at(-1)).toMatchObject({ kind: "done", state: "Notify" });
  });

  test("is nobody else's while its lock stands, wherever its entries are", async () => {
    const id = await aJob("Recording");
    await letIn();
    const job = await library.acquireJob("Recording");
    await job?.setStatus("Notify");
    await intake.ctx.committer.submit({
      rank: "commit",
      ops: [{ op: "create", path: paths.queueEntry("Recording", 5, id), data: Buffer.alloc(0) }],
    });
    expect(await look("Recording", id)).toMatchObject({ kind: "locked", lock: null });
    expect(await look("Notify", id)).toMatchObject({ kind: "locked", lock: null });
    await job?.unlock();
    expect(await look("Recording", id)).toMatchObject({ kind: "moved", state: "Notify" });
    expect(await look("Notify", id)).toMatchObject({ kind: "ready" });
  });
});

describe("a write of one that had lost its job", () => {
  /** It takes the job, and its session ends; what it remembers of the job it still has. */
  async function lostWith() {
    const job = (await library.acquireJob("Recording"))!;
    await job.unlock();
    return job;
  }

  test("to a job that is over is noticed, and nobody works on it", async () => {
    const id = await aJob("Recording");
    await letIn();
    const late = await lostWith();
    const recorder = await testWorker(zk.connect, "recorder");
    await recorder.jobs.commit(await claimJob(recorder, "Recording", id), { kind: "done", changes: {} });
    await recorder.close();
    await notifier.jobs.commit(await claimJob(notifier, "Notify", id), { kind: "done", changes: {} });
    await late.setStatus("Notify");
    expect(await look("Notify", id)).toMatchObject({
      kind: "overwritten",
      problem: expect.stringContaining("left it Completed, another program wrote Notify"),
    });
  });

  test("to a job that was resumed at another stage meanwhile is noticed", async () => {
    const id = await aJob("Recording");
    await letIn();
    const late = await lostWith();
    expect(await actOnJob(intake.ctx, OPERATOR, "fail", id)).toEqual({ kind: "applied" });
    expect(await resumeJob(intake.ctx, OPERATOR, id, "Downloading")).toEqual({ kind: "applied" });
    await late.setStatus("Notify");
    expect(await look("Notify", id)).toMatchObject({ kind: "overwritten" });
  });

  test("that led where its stage leads is taken as its work: it was done", async () => {
    const id = await aJob("Recording");
    await letIn();
    const late = await lostWith();
    await late.setStatus("Notify");
    expect(await look("Notify", id)).toMatchObject({ kind: "ready", beside: { kind: "moved", from: "Recording" } });
  });

  test("is not looked for where nobody was let in", async () => {
    const { jobs } = await aBatchOfJobs(intake, [aJobSpec()]);
    await advance(zk.connect, jobs[0]!, "Notify");
    const node = await library.session.get(paths.jobStatus(jobs[0]!));
    await library.session.set(paths.jobStatus(jobs[0]!), node.ok ? node.value.data : Buffer.alloc(0));
    expect(await look("Notify", jobs[0]!)).toMatchObject({ kind: "ready" });
  });
});
