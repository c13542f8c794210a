import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  aBatchOfJobs,
  claimJob,
  readyEntry,
  testWorker,
  type TestWorker,
  testZooKeeper,
  tree,
  waitFor,
} from "@sluice/testkit";
import {
  actOnJob,
  changePriority,
  type JobId,
  type JobState,
  makeJobStore,
  paths,
  peek,
  readJob,
  records,
  resumeJob,
} from "../src/index.ts";

const OPERATOR = { name: "olga", reason: "because" };
let connect: string;
const open: TestWorker[] = [];

async function worker(stage: string, options = {}): Promise<TestWorker> {
  const made = await testWorker(connect, stage, options);
  open.push(made);
  return made;
}
beforeEach(async () => {
  ({ connect } = await testZooKeeper());
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((w) => w.close()));
});

/** One Pending job and the intake that may work it. */
async function oneJob() {
  const intake = await worker("batch-intake");
  const { batch, jobs } = await aBatchOfJobs(intake, 1);
  return { intake, batch, job: jobs[0]! };
}
const stateOf = async (w: TestWorker, id: JobId): Promise<JobState> => {
  const view = await readJob(w.session, id);
  if (view.kind !== "found") throw new Error(view.kind);
  return view.value.status.status;
};

describe("claiming", () => {
  test("of one job by many at once is won by exactly one", async () => {
    const { job } = await oneJob();
    const rivals = await Promise.all(Array.from({ length: 6 }, () => worker("batch-intake")));
    const entry = await readyEntry(rivals[0]!, "Pending", job);
    const seen = await Promise.all(rivals.map((r) => peek(r.session, "Pending", [entry])));
    const results = await Promise.all(
      rivals.map((r, i) => {
        const candidate = seen[i]!.ok ? seen[i]!.value[0]! : undefined;
        if (candidate?.kind !== "ready") throw new Error("not ready");
        return r.jobs.claim(candidate);
      }),
    );
    expect(results.map((r) => r.kind).sort()).toEqual(["acquired", "held", "held", "held", "held", "held"]);
    expect(await peek(rivals[0]!.session, "Pending", [entry])).toMatchObject({ ok: true, value: [{ kind: "locked" }] });
  });

  test("takes the status at its first version as seriously as at any other", async () => {
    const { intake, job } = await oneJob();
    const [candidate] = await ready(intake, job);
    const rival = await worker("batch-intake");
    await rival.jobs.giveBack((await claimJob(rival, "Pending", job)).lease, "handback", {
      delayMs: 0,
      why: "",
      countsAttempt: false,
    });
    // The node was at version 0 when it was looked at; a client that takes 0 for "any" would let this through.
    expect(candidate.statusVersion).toBe(0);
    expect((await intake.jobs.claim(candidate)).kind).toBe("gone");
  });

  test("counts an attempt and leaves the bytes of the status as they were", async () => {
    const { intake, job } = await oneJob();
    const before = await intake.session.get(paths.jobStatus(job));
    const { lease } = await claimJob(intake, "Pending", job);
    const after = await intake.session.get(paths.jobStatus(job));
    if (!before.ok || !after.ok) throw new Error("no status");
    expect(after.value.data).toEqual(before.value.data);
    expect(after.value.stat.version).toBe(lease.token);
    expect(lease.fleetJob.attempts).toBe(1);
  });

  test("skips a job that moved on between listing and looking", async () => {
    const { intake, job } = await oneJob();
    const entry = await readyEntry(intake, "Pending", job);
    await intake.jobs.commit(await claimJob(intake, "Pending", job), { kind: "done", changes: {} });
    expect(await peek(intake.session, "Pending", [entry])).toMatchObject({
      ok: true,
      value: [{ kind: "moved", state: "Estimating" }],
    });
  });
});

async function ready(w: TestWorker, job: JobId) {
  const seen = await peek(w.session, "Pending", [await readyEntry(w, "Pending", job)]);
  const candidate = seen.ok ? seen.value[0] : undefined;
  if (candidate?.kind !== "ready") throw new Error("not ready");
  return [candidate] as const;
}

describe("committing", () => {
  test("moves status, entry, history and lock in one transaction, and nothing else", async () => {
    const { intake, batch, job } = await oneJob();
    await intake.jobs.commit(await claimJob(intake, "Pending", job), { kind: "done", changes: {} });
    const estimator = await worker("estimator", { name: "e1" });
    const loaded = await claimJob(estimator, "Estimating", job);
    const result = await estimator.jobs.commit(loaded, {
      kind: "done",
      changes: { spaceNeeded: 1000, priorityDelta: 10 },
    });
    expect(result).toMatchObject({ kind: "applied", to: "Provisioning" });
    const all = await tree(estimator.session, {
      under: ["/jobs", paths.batch(batch)],
      except: /configuration$|submission$/,
    });
    expect(all).toMatchObject({
      [paths.jobStatus(job)]: {
        status: "Provisioning",
        last_successful_status: "Estimating",
        retry_count: 0,
        message: "",
      },
      [paths.jobPriority(job)]: "15",
      [paths.jobSpaceNeeded(job)]: "1000",
      [paths.queueEntry("Provisioning", 15, job)]: null,
      [paths.bucketEntry(batch, "batch-processing", job)]: null,
    });
    expect(
      Object.keys(all).filter((path) => path.includes("lock") || path.startsWith("/jobs/states/estimating/")),
    ).toEqual([]);
  });

  test("by one whose job was failed and resumed by an operator is refused, and removes only its own lock", async () => {
    const { intake, job } = await oneJob();
    const zombie = await claimJob(intake, "Pending", job);
    const operator = await worker("operator", { register: false });
    expect(await actOnJob(operator.ctx, OPERATOR, "fail", job)).toEqual({ kind: "applied" });
    expect(await resumeJob(operator.ctx, OPERATOR, job)).toEqual({ kind: "applied" });
    const successor = await worker("batch-intake");
    const theirs = await claimJob(successor, "Pending", job);
    expect(await intake.jobs.commit(zombie, { kind: "done", changes: {} })).toEqual({ kind: "fenced" });
    const lock = await successor.session.get(paths.jobLock(job));
    expect(lock.ok && records.lock.decode(lock.value.data)).toMatchObject({
      ok: true,
      value: { claim: theirs.lease.claim },
    });
    expect(await successor.jobs.commit(theirs, { kind: "done", changes: {} })).toMatchObject({ kind: "applied" });
  });

  test("by one whose session ended and whose job was taken over is refused", async () => {
    const { intake, job } = await oneJob();
    const first = await worker("batch-intake");
    const zombie = await claimJob(first, "Pending", job);
    await first.close();
    const theirs = await claimJob(intake, "Pending", job);
    // The same words from another session of the same process: only the token can tell them apart.
    const again = makeJobStore(intake.ctx, first.actor);
    expect(await again.commit(zombie, { kind: "done", changes: {} })).toEqual({ kind: "fenced" });
    expect(await intake.jobs.commit(theirs, { kind: "done", changes: {} })).toMatchObject({ kind: "applied" });
  });

  test("goes through after an operator changed the priority under it", async () => {
    const { intake, job } = await oneJob();
    await intake.jobs.commit(await claimJob(intake, "Pending", job), { kind: "done", changes: {} });
    const estimator = await worker("estimator");
    const loaded = await claimJob(estimator, "Estimating", job);
    const operator = await worker("operator", { register: false });
    expect(await changePriority(operator.ctx, OPERATOR, job, 40)).toEqual({ kind: "applied" });
    expect(await estimator.jobs.commit(loaded, { kind: "done", changes: { priorityDelta: 10 } })).toMatchObject({
      kind: "applied",
    });
    await readyEntry(estimator, "Provisioning", job).then((entry) => expect(entry.priority).toBe(50));
    expect(await readJob(estimator.session, job)).toMatchObject({ value: { priority: 50 } });
  });

  test("goes through after the priority was changed and changed back under it", async () => {
    const { intake, job } = await oneJob();
    await intake.jobs.commit(await claimJob(intake, "Pending", job), { kind: "done", changes: {} });
    const estimator = await worker("estimator");
    const loaded = await claimJob(estimator, "Estimating", job);
    const operator = await worker("operator", { register: false });
    for (const priority of [40, 5]) await changePriority(operator.ctx, OPERATOR, job, priority);
    const result = await estimator.jobs.commit(loaded, { kind: "done", changes: { priorityDelta: 10 } });
    expect(result).toMatchObject({ kind: "applied" });
    expect((await readyEntry(estimator, "Provisioning", job)).priority).toBe(15);
  });

  test("clamps a priority that would need a third digit", async () => {
    const intake = await worker("batch-intake");
    const { jobs } = await aBatchOfJobs(intake, 1);
    const operator = await worker("operator", { register: false });
    await changePriority(operator.ctx, OPERATOR, jobs[0]!, 99);
    const loaded = await claimJob(intake, "Pending", jobs[0]!);
    await intake.jobs.commit(loaded, { kind: "done", changes: { priorityDelta: 10 } });
    expect((await readyEntry(intake, "Estimating", jobs[0]!)).priority).toBe(99);
  });

  test("removes a leftover entry of a foreign writer that stands in its way", async () => {
    const { intake, job } = await oneJob();
    const loaded = await claimJob(intake, "Pending", job);
    const foreign = await worker("operator", { register: false });
    await foreign.ctx.committer.submit({
      rank: "operator",
      ops: [{ op: "create", path: paths.queueEntry("Estimating", 5, job), data: Buffer.alloc(0) }],
    });
    expect(await intake.jobs.commit(loaded, { kind: "done", changes: {} })).toMatchObject({
      kind: "applied",
      to: "Estimating",
    });
    expect(await stateOf(intake, job)).toBe("Estimating");
  });

  test("of a failure leaves word for the depositor's callback and frees nothing it should keep", async () => {
    const { intake, batch, job } = await oneJob();
    const loaded = await claimJob(intake, "Pending", job);
    await intake.jobs.commit(loaded, {
      kind: "fail",
      code: "PAYLOAD_DIGEST_MISMATCH",
      message: "sha-256 of a.pdf differs",
    });
    expect(
      await tree(intake.session, { under: ["/fleet/callbacks", paths.batchStates(batch), "/jobs/states/failed"] }),
    ).toEqual({
      [paths.bucketEntry(batch, "batch-failed", job)]: null,
      [paths.bucket(batch, "batch-processing")]: null,
      [paths.bucket(batch, "batch-completed")]: null,
      [paths.bucket(batch, "batch-deleted")]: null,
      [paths.queueEntry("Failed", 5, job)]: null,
      [paths.callback(job, 0)]: expect.objectContaining({
        outcome: "FAILED",
        message: "PAYLOAD_DIGEST_MISMATCH: sha-256 of a.pdf differs",
      }),
    });
  });

  test("by a way that the table does not have is refused without a trace", async () => {
    const { intake, job } = await oneJob();
    await intake.jobs.commit(await claimJob(intake, "Pending", job), { kind: "done", changes: {} });
    const estimator = await worker("estimator");
    const loaded = await claimJob(estimator, "Estimating", job);
    expect(await estimator.jobs.commit(loaded, { kind: "fail", code: "UNEXPECTED", message: "" })).toMatchObject({
      kind: "refused",
    });
    expect(await estimator.jobs.commit(loaded, { kind: "quarantine", message: "died 5 times" })).toMatchObject({
      kind: "applied",
      to: "Failed",
    });
  });
});

describe("giving back", () => {
  test("a snooze costs no attempt and is respected by everyone until it is over", async () => {
    const { intake, job } = await oneJob();
    const { lease } = await claimJob(intake, "Pending", job);
    await intake.jobs.giveBack(lease, "snooze", { delayMs: 3_600_000, why: "volume full", countsAttempt: false });
    const other = await worker("batch-intake");
    const entry = await readyEntry(other, "Pending", job);
    expect(await peek(other.session, "Pending", [entry])).toMatchObject({
      ok: true,
      value: [{ kind: "waiting", why: "volume full" }],
    });
    expect(await readJob(other.session, job)).toMatchObject({ value: { history: { attempts: 0 }, lock: null } });
  });

  test("a retry keeps its attempt and is ready again when its delay has passed", async () => {
    const { intake, job } = await oneJob();
    const { lease } = await claimJob(intake, "Pending", job);
    await intake.jobs.giveBack(lease, "retry", { delayMs: 1, why: "503", countsAttempt: true });
    const entry = await readyEntry(intake, "Pending", job);
    const again = await waitFor(async () => {
      const seen = await peek(intake.session, "Pending", [entry]);
      const candidate = seen.ok ? seen.value[0] : undefined;
      return candidate?.kind === "ready" ? candidate : null;
    });
    expect(again.fleetJob.attempts).toBe(1);
  });

  test("fences every older commit", async () => {
    const { intake, job } = await oneJob();
    const loaded = await claimJob(intake, "Pending", job);
    await intake.jobs.giveBack(loaded.lease, "handback", { delayMs: 0, why: "shutdown", countsAttempt: false });
    expect(await intake.jobs.commit(loaded, { kind: "done", changes: {} })).toEqual({ kind: "fenced" });
  });
});

describe("writing on the way", () => {
  test("puts an identifier down before the job moves, and the commit can change it again", async () => {
    const { intake, job } = await oneJob();
    const loaded = await claimJob(intake, "Pending", job);
    const first = await intake.jobs.write(loaded, { identifiers: { primary_id: "ark:/99999/fk4a", local_id: [] } });
    expect(first.result.kind).toBe("applied");
    expect(await readJob(intake.session, job)).toMatchObject({
      value: { identifiers: { primary_id: "ark:/99999/fk4a" } },
    });
    const second = await intake.jobs.write(first.loaded, {
      identifiers: { primary_id: "ark:/99999/fk4a", local_id: ["x"] },
    });
    expect(
      await intake.jobs.commit(second.loaded, {
        kind: "done",
        changes: { identifiers: { primary_id: "ark:/99999/fk4a", local_id: ["y"] } },
      }),
    ).toMatchObject({ kind: "applied" });
  });

  test("is refused to one who has been fenced out", async () => {
    const { intake, job } = await oneJob();
    const loaded = await claimJob(intake, "Pending", job);
    const operator = await worker("operator", { register: false });
    await actOnJob(operator.ctx, OPERATOR, "fail", job);
    const late = await intake.jobs.write(loaded, { identifiers: { primary_id: "ark:/99999/fk4b", local_id: [] } });
    expect(late.result).toEqual({ kind: "fenced" });
    expect(await readJob(intake.session, job)).toMatchObject({ value: { identifiers: null } });
  });
});
