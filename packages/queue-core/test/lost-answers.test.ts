/**
 * A multi whose answer is lost, both ways: it arrived and was carried out, or it never arrived. In either case the
 * caller learns the truth, and the tree shows one effect.
 */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  aBatch,
  aBatchOfJobs,
  aJobSpec,
  aSubmission,
  claimJob,
  type FaultProxy,
  readyEntry,
  startFaultProxy,
  testWorker,
  type TestWorker,
  testZooKeeper,
} from "@sluice/testkit";
import {
  acquireObjectLocks,
  actOnJob,
  batchUuidFromRandom,
  beginOperation,
  createBatch,
  findBatch,
  listBucket,
  listOperations,
  makeExpander,
  makeIdBlocks,
  markDueIfLast,
  orderJobs,
  paths,
  peek,
  readBatch,
  readJob,
  readOperation,
  readOperationJobs,
  records,
  releaseObjectLocks,
  resumeJob,
  saveOperation,
  stopOperation,
} from "../src/index.ts";

const OPERATOR = { name: "olga", reason: "because" };
let proxy: FaultProxy;
/** Its answers can be lost. */
let subject: TestWorker;
/** Its link is always good. */
let witness: TestWorker;

beforeEach(async () => {
  const { connect } = await testZooKeeper();
  proxy = await startFaultProxy(connect);
  subject = await testWorker(proxy.connect, "batch-intake");
  witness = await testWorker(connect, "batch-intake");
});
afterEach(async () => {
  await Promise.all([subject.close(), witness.close()]);
  await proxy.close();
});

async function auditedActions(): Promise<readonly string[]> {
  const names = await witness.session.children(paths.auditRecords);
  const all = names.ok ? [...names.value.names].sort() : [];
  const answers = await witness.session.readMany(all.map((name) => ({ get: `${paths.auditRecords}/${name}` })));
  return (answers.ok ? answers.value : []).map((answer) => {
    const record = answer.kind === "node" ? records.auditRecord.decode(answer.node.data) : null;
    return record?.ok === true ? record.value.action : "unreadable";
  });
}

const WAYS = [
  ["was carried out", "cutAfterForward"],
  ["never arrived", "cutBefore"],
] as const;

describe.each(WAYS)("an answer is lost and the multi %s", (_, verdict) => {
  test("claim: acquired if the lock is ours, dropped if not", async () => {
    const { jobs } = await aBatchOfJobs(witness, 1);
    const seen = await peek(subject.session, "Pending", [await readyEntry(subject, "Pending", jobs[0]!)]);
    const candidate = seen.ok ? seen.value[0]! : undefined;
    if (candidate?.kind !== "ready") throw new Error("not ready");
    const lost = proxy.onNext("multi", verdict);
    const claim = subject.jobs.claim(candidate);
    await lost;
    expect((await claim).kind).toBe(verdict === "cutAfterForward" ? "acquired" : "gone");
    const lock = await witness.session.exists(paths.jobLock(jobs[0]!));
    expect(lock.ok && lock.value !== null).toBe(verdict === "cutAfterForward");
  });

  test("an order for many jobs: each moved once, one record of the order", async () => {
    const { jobs } = await aBatchOfJobs(witness, 45);
    const lost = proxy.onNext("multi", verdict);
    const order = orderJobs(subject.ctx, OPERATOR, { action: "fail" }, { ids: jobs });
    await lost;
    expect(await order).toMatchObject({ kind: "finished", progress: { total: 45, done: 45 }, exceptions: [] });
    const chain = await witness.session.children(paths.auditRecords);
    expect(chain.ok && chain.value.names.length).toBe(1);
  });

  test("a bulk operation: begun once, with one record in the audit", async () => {
    const { jobs } = await aBatchOfJobs(witness, 2);
    const lost = proxy.onNext("multi", verdict);
    const begun = beginOperation(subject.ctx, OPERATOR, { action: "hold" }, jobs);
    await lost;
    const { id, result } = await begun;
    expect(result).toMatchObject({ kind: "applied" });
    const all = await listOperations(witness.session, 10);
    expect(all).toMatchObject([{ id, record: { state: "running", total: 2, next: 0, runs: 0 } }]);
    expect(await readOperationJobs(witness.session, id)).toEqual(jobs);
    const due = await witness.session.children(paths.dueOperations);
    expect(due.ok && due.value.names).toEqual([id]);
    expect(await auditedActions()).toEqual(["bulk.hold 2 jobs"]);
  });

  test("how far a bulk operation is: whoever asks again learns what counts, and nobody writes over it", async () => {
    const { jobs } = await aBatchOfJobs(witness, 2);
    const { id } = await beginOperation(witness.ctx, OPERATOR, { action: "hold" }, jobs);
    const before = await readOperation(subject.session, id);
    if (before === null || before === "none") throw new Error("no operation");
    const lost = proxy.onNext("multi", verdict);
    const saving = saveOperation(subject.ctx, before, { ...before.record, next: 1, applied: 1 });
    await lost;
    const saved = await saving;
    const arrived = verdict === "cutAfterForward";
    // Not guessed: it was saved, or it is not known, and then the tree tells.
    expect(saved === "lost" || (typeof saved !== "string" && saved.record.next === 1)).toBe(true);
    const after = await readOperation(witness.session, id);
    if (after === null || after === "none") throw new Error("no operation");
    expect(after.record.next).toBe(arrived || saved !== "lost" ? 1 : 0);
    if (after.version !== before.version) {
      expect(await saveOperation(witness.ctx, before, { ...before.record, next: 2, applied: 2 })).toBe("changed");
    }
  });

  test("stopping a bulk operation: stopped once, with one record in the audit", async () => {
    const { jobs } = await aBatchOfJobs(witness, 2);
    const { id } = await beginOperation(witness.ctx, OPERATOR, { action: "hold" }, jobs);
    const lost = proxy.onNext("multi", verdict);
    const stopping = stopOperation(subject.ctx, OPERATOR, id);
    await lost;
    expect(await stopping).toMatchObject({ kind: "applied" });
    expect(await readOperation(witness.session, id)).toMatchObject({ record: { state: "stopped" }, version: 1 });
    expect(await auditedActions()).toEqual(["bulk.hold 2 jobs", "bulk.stop"]);
  });

  test("commit: applied once", async () => {
    const { jobs } = await aBatchOfJobs(witness, 1);
    const loaded = await claimJob(subject, "Pending", jobs[0]!);
    const lost = proxy.onNext("multi", verdict);
    const commit = subject.jobs.commit(loaded, { kind: "done", changes: { spaceNeeded: 7 } });
    await lost;
    expect(await commit).toMatchObject({ kind: "applied", to: "Estimating" });
    expect(await readJob(witness.session, jobs[0]!)).toMatchObject({
      value: { status: { status: "Estimating" }, spaceNeeded: 7, lock: null },
    });
  });

  test("commit: still known as ours when this process has claimed the job again meanwhile", async () => {
    const { jobs } = await aBatchOfJobs(witness, 1);
    const [job] = jobs;
    const loaded = await claimJob(subject, "Pending", job!);
    const lost = proxy.onNext("multi", verdict);
    const snooze = subject.jobs.giveBack(loaded.lease, "handback", { delayMs: 0, why: "", countsAttempt: false });
    await lost;
    const result = await snooze;
    expect(result.kind).toBe("applied");
    const again = await claimJob(subject, "Pending", job!);
    expect(again.lease.token).toBe(loaded.lease.token + 2);
    expect(await subject.jobs.commit(again, { kind: "done", changes: {} })).toMatchObject({ kind: "applied" });
  });

  test("snooze: given back once, the attempt taken back once", async () => {
    const { jobs } = await aBatchOfJobs(witness, 1);
    const { lease } = await claimJob(subject, "Pending", jobs[0]!);
    const lost = proxy.onNext("multi", verdict);
    const snooze = subject.jobs.giveBack(lease, "snooze", { delayMs: 60_000, why: "later", countsAttempt: false });
    await lost;
    expect(await snooze).toMatchObject({ kind: "applied", to: "Pending" });
    expect(await readJob(witness.session, jobs[0]!)).toMatchObject({
      value: { lock: null, history: { attempts: 0, why: "later" } },
    });
  });

  test("resume: retry_count grows by exactly one", async () => {
    const { jobs } = await aBatchOfJobs(witness, 1);
    await actOnJob(witness.ctx, OPERATOR, "fail", jobs[0]!);
    const lost = proxy.onNext("multi", verdict);
    const resume = resumeJob(subject.ctx, OPERATOR, jobs[0]!);
    await lost;
    expect(await resume).toMatchObject({ kind: "applied" });
    expect(await readJob(witness.session, jobs[0]!)).toMatchObject({
      value: { status: { status: "Pending", retry_count: 1 } },
    });
  });

  test("creation: one batch under its UUID", async () => {
    const ids = makeIdBlocks(subject.ctx);
    await ids.nextBatch(); // the block is there: the next multi is the creation itself
    const uuid = batchUuidFromRandom(Buffer.alloc(16, 7));
    const lost = proxy.onNext("multi", verdict);
    const creation = createBatch(subject.ctx, ids, {
      uuid,
      submission: aSubmission({ request_digest: "d" }),
      epoch: 1,
    });
    await lost;
    const result = await creation;
    expect(result.kind).toBe("created");
    expect(await findBatch(witness.ctx, uuid)).toBe(result.kind === "created" ? result.id : "");
    const batches = await witness.session.children(paths.batches);
    expect(batches.ok && batches.value.names).toHaveLength(1);
  });

  test("expansion: each row once", async () => {
    const batch = await aBatch(subject);
    const pending = await subject.batches.claim("Pending", batch);
    if (pending.kind !== "acquired") throw new Error(pending.kind);
    await subject.batches.settle(pending.loaded, { kind: "start", rows: 50, digest: "" });
    const processing = await subject.batches.claim("Processing", batch);
    if (processing.kind !== "acquired") throw new Error(processing.kind);
    const ids = makeIdBlocks(subject.ctx);
    await ids.nextJobs(1);
    const options = { identity: subject.identity, workingDir: () => "" };
    const expander = makeExpander(subject.ctx, subject.actor, ids, options);
    const rows = Array.from({ length: 25 }, () => aJobSpec());
    const lost = proxy.onNext("multi", verdict);
    const chunk = expander.addJobs(processing.loaded, rows);
    await lost;
    const first = await chunk;
    if (first.kind !== "added") throw new Error(first.kind);
    expect((await expander.addJobs(first.loaded, rows)).kind).toBe("added");
    expect(await listBucket(witness.session, batch, "batch-processing")).toHaveLength(50);
    expect(await readBatch(witness.session, batch)).toMatchObject({ value: { expansion: { rows: 50, created: 50 } } });
  });
});

test("a commit that never arrived is called lost when somebody else has moved the job meanwhile", async () => {
  const { jobs } = await aBatchOfJobs(witness, 1);
  const loaded = await claimJob(subject, "Pending", jobs[0]!);
  const lost = proxy.onNext("multi", "cutBefore");
  const commit = subject.jobs.commit(loaded, { kind: "done", changes: {} });
  await lost;
  await proxy.setMode("refuse");
  await actOnJob(witness.ctx, OPERATOR, "fail", jobs[0]!);
  await resumeJob(witness.ctx, OPERATOR, jobs[0]!);
  const theirs = await claimJob(witness, "Pending", jobs[0]!);
  await proxy.setMode("pass");
  expect(await commit).toEqual({ kind: "fenced" });
  // Same state, and a version that only grew: only the op id tells that this was not us.
  expect(await witness.jobs.commit(theirs, { kind: "done", changes: {} })).toMatchObject({ kind: "applied" });
});

test("a commit that was carried out is known as ours although the job has been claimed again by another", async () => {
  const { jobs } = await aBatchOfJobs(witness, 1);
  const { lease } = await claimJob(subject, "Pending", jobs[0]!);
  const lost = proxy.onNext("multi", "cutAfterForward");
  const handback = subject.jobs.giveBack(lease, "handback", { delayMs: 0, why: "", countsAttempt: false });
  await lost;
  await proxy.setMode("refuse");
  const theirs = await claimJob(witness, "Pending", jobs[0]!);
  await proxy.setMode("pass");
  expect(await handback).toMatchObject({ kind: "applied" });
  expect(await witness.jobs.commit(theirs, { kind: "done", changes: {} })).toMatchObject({ kind: "applied" });
});

test("work whose session is lost is dropped, never resolved or sent again", async () => {
  const { jobs } = await aBatchOfJobs(witness, 1);
  const short = await testWorker(proxy.connect, "batch-intake", { timeoutMs: 1000 });
  const loaded = await claimJob(short, "Pending", jobs[0]!);
  const lost = proxy.onNext("multi", "cutBefore");
  const commit = short.jobs.commit(loaded, { kind: "done", changes: {} });
  await lost;
  await proxy.setMode("refuse");
  expect(await commit).toEqual({ kind: "lost" });
  expect(short.session.state).toBe("lost");
  await proxy.setMode("pass");
  expect(await readJob(witness.session, jobs[0]!)).toMatchObject({ value: { status: { status: "Pending" } } });
});

describe("letting go of a lock over a bad link", () => {
  const lockOf = async (path: string): Promise<boolean> => {
    const lock = await witness.session.exists(path);
    return lock.ok && lock.value !== null;
  };

  test("one who was fenced out removes its lock although the look at it is lost", async () => {
    const { jobs } = await aBatchOfJobs(witness, 1);
    const loaded = await claimJob(subject, "Pending", jobs[0]!);
    const status = await witness.session.get(paths.jobStatus(jobs[0]!));
    if (!status.ok) throw new Error(status.code);
    // As by a writer who fences out and forgets the lock.
    const { data, stat } = status.value;
    await witness.session.multi([{ op: "set", path: paths.jobStatus(jobs[0]!), data, version: stat.version }]);
    const lost = proxy.onNext("multiRead", "cutBefore");
    expect(await subject.jobs.commit(loaded, { kind: "done", changes: {} })).toEqual({ kind: "fenced" });
    await lost;
    expect(await lockOf(paths.jobLock(jobs[0]!))).toBe(false);
  });

  test("object locks are let go however often the answer is lost, as long as the session lives", async () => {
    const path = paths.storageLock("ark:/99999/fk4");
    const taken = await acquireObjectLocks(subject.ctx, subject.actor, [path]);
    if (taken.kind !== "acquired") throw new Error(taken.kind);
    let cuts = 0;
    proxy.onRequest(({ opcode }) => (opcode === "multiRead" && cuts++ < 7 ? "cutBefore" : "pass"));
    await releaseObjectLocks(subject.ctx, taken.locks);
    expect(cuts).toBeGreaterThan(7);
    expect([subject.session.state, await lockOf(path)]).toEqual(["connected", false]);
  });

  test("the last job's end is told to the reporters although the answer is lost", async () => {
    const { batch, jobs } = await aBatchOfJobs(witness, 1);
    await subject.jobs.commit(await claimJob(subject, "Pending", jobs[0]!), {
      kind: "fail",
      code: "UNEXPECTED",
      message: "",
    });
    const lost = proxy.onNext("multi", "cutBefore");
    expect(await markDueIfLast(subject.ctx, batch)).toBe(true);
    await lost;
    expect(await lockOf(paths.dueBatch(batch))).toBe(true);
  });
});
