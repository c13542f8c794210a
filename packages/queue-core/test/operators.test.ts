import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { aBatch, aBatchOfJobs, advance, claimJob, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import {
  actOnBatch,
  actOnJob,
  acquireObjectLocks,
  auditProblem,
  type AuditRecord,
  changePriority,
  holdsGuard,
  liftHold,
  listEndedHolds,
  makeSpaceReader,
  parkedUntil,
  parkReason,
  paths,
  readHolds,
  readJob,
  records,
  releaseHold,
  releaseObjectLocks,
  resumeJob,
  setHold,
  spaceGuard,
} from "../src/index.ts";

const OPERATOR = { name: "olga", reason: "maintenance" };
const COLLECTION = { kind: "collection", profile: "sluice_demo_content" } as const;
let connect: string;
let intake: TestWorker;
let operator: TestWorker;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
  operator = await testWorker(connect, "operator", { register: false });
});
afterEach(async () => {
  await Promise.all([intake, operator].map((w) => w.close()));
});
async function holds(w: TestWorker) {
  const read = await readHolds(w.session);
  if (!read.ok) throw new Error(read.code);
  return read.value;
}

describe("holds", () => {
  test("a hold that comes between the look and the move refuses the move", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    const loaded = await claimJob(intake, "Pending", jobs[0]!);
    const before = await holds(intake);
    expect(before.collections.has(COLLECTION.profile)).toBe(false);
    expect(await setHold(operator.ctx, OPERATOR, COLLECTION)).toEqual({ kind: "applied" });
    expect(await intake.jobs.commit(loaded, { kind: "done", changes: {} }, holdsGuard(before))).toEqual({
      kind: "guarded",
    });
    const now = await holds(intake);
    expect(now.collections.has(COLLECTION.profile)).toBe(true);
    expect(await intake.jobs.commit(loaded, { kind: "park", why: "collection held" }, holdsGuard(now))).toMatchObject({
      kind: "applied",
      to: "Held",
    });
    expect(await readJob(intake.session, jobs[0]!)).toMatchObject({
      value: { status: { last_successful_status: null }, lock: null },
    });
  });

  test("a held job is released only when its hold is gone, and goes on from Pending", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    await setHold(operator.ctx, OPERATOR, COLLECTION);
    expect(await actOnJob(operator.ctx, OPERATOR, "hold", jobs[0]!)).toEqual({ kind: "applied" });
    expect(await actOnJob(operator.ctx, OPERATOR, "release", jobs[0]!)).toMatchObject({
      kind: "refused",
      why: "the collection sluice_demo_content is still held",
    });
    expect(await releaseHold(operator.ctx, OPERATOR, COLLECTION)).toEqual({ kind: "applied" });
    expect(await actOnJob(operator.ctx, OPERATOR, "release", jobs[0]!)).toEqual({ kind: "applied" });
    expect(await readJob(operator.session, jobs[0]!)).toMatchObject({
      value: { status: { status: "Pending", last_successful_status: null } },
    });
  });

  test("a batch is parked, released to Pending, and can be deleted while held", async () => {
    const batch = await aBatch(intake);
    const claim = await intake.batches.claim("Pending", batch);
    if (claim.kind !== "acquired") throw new Error(claim.kind);
    expect(await intake.batches.settle(claim.loaded, { kind: "park", why: "held" })).toEqual({
      kind: "applied",
      to: "Held",
    });
    expect(await actOnBatch(operator.ctx, OPERATOR, "release", batch)).toEqual({ kind: "applied" });
    expect(await actOnBatch(operator.ctx, OPERATOR, "delete", batch)).toMatchObject({ kind: "refused" });
  });

  test("set twice, or released when there is none, is refused with a reason", async () => {
    expect(await releaseHold(operator.ctx, OPERATOR, { kind: "queue" })).toMatchObject({ kind: "refused" });
    expect(await setHold(operator.ctx, OPERATOR, { kind: "queue" })).toEqual({ kind: "applied" });
    expect(await setHold(operator.ctx, OPERATOR, { kind: "queue" })).toMatchObject({ kind: "refused" });
    expect((await holds(intake)).queuePaused).toBe(true);
    expect(await setHold(operator.ctx, OPERATOR, { kind: "stage", stage: "downloader" })).toEqual({ kind: "applied" });
    expect([...(await holds(intake)).pausedStages]).toEqual(["downloader"]);
    expect(await setHold(operator.ctx, OPERATOR, { kind: "collection", profile: "../../fleet/id" })).toMatchObject({
      kind: "refused",
    });
  });
});

describe("the end of a hold", () => {
  test.each(["Thursday", "2020-01-01 00:00:00 +0000", ""])("cannot be %j", async (until) => {
    expect(await setHold(operator.ctx, OPERATOR, COLLECTION, until)).toMatchObject({ kind: "refused" });
  });

  test("is written as CDL writes times, and told to whoever is parked", async () => {
    await setHold(operator.ctx, OPERATOR, COLLECTION, "2099-07-01T06:00:00.000+02:00");
    const now = await holds(intake);
    expect(now.heldUntil).toEqual(new Map([[COLLECTION.profile, "2099-07-01 04:00:00 +0000"]]));
    const why = parkReason(now, COLLECTION.profile);
    expect(why).toBe("collection sluice_demo_content is held until 2099-07-01 04:00:00 +0000");
    expect(parkedUntil(why)).toBe(Date.UTC(2099, 6, 1, 4));
    expect(parkedUntil(parkReason({ heldUntil: new Map() }, COLLECTION.profile))).toBeNull();
  });

  test("that has not come, or belongs to a hold put up meanwhile, lifts nothing", async () => {
    expect(await liftHold(operator.ctx, COLLECTION)).toMatchObject({ kind: "refused" });
    await setHold(operator.ctx, OPERATOR, COLLECTION, "2099-07-01T06:00:00Z");
    expect(await liftHold(operator.ctx, COLLECTION)).toMatchObject({ kind: "refused", why: "its time is not over" });
    const later = { ...operator.ctx, clock: { ...operator.ctx.clock, nowMs: () => Date.UTC(2100, 0) } };
    expect(await listEndedHolds(operator.session, Date.UTC(2100, 0))).toEqual([COLLECTION]);
    await releaseHold(operator.ctx, OPERATOR, COLLECTION);
    await setHold(operator.ctx, OPERATOR, COLLECTION);
    expect(await liftHold(later, COLLECTION)).toMatchObject({ kind: "refused", why: "its time is not over" });
  });
});

test("a job of a held collection is not resumed", async () => {
  const { jobs } = await aBatchOfJobs(intake, 1);
  await actOnJob(operator.ctx, OPERATOR, "fail", jobs[0]!);
  await setHold(operator.ctx, OPERATOR, COLLECTION);
  expect(await resumeJob(operator.ctx, OPERATOR, jobs[0]!)).toMatchObject({
    kind: "refused",
    why: "the collection sluice_demo_content is held",
  });
});

test("failing the last job under way makes its batch due, as any other end does", async () => {
  const { batch, jobs } = await aBatchOfJobs(intake, 1);
  await actOnJob(operator.ctx, OPERATOR, "fail", jobs[0]!);
  expect(await operator.session.exists(paths.dueBatch(batch))).toMatchObject({ ok: true, value: { version: 0 } });
});

test("a reason that is a document is cut to a sentence", async () => {
  const { jobs } = await aBatchOfJobs(intake, 1);
  await actOnJob(operator.ctx, { name: "o".repeat(5_000), reason: "水".repeat(100_000) }, "fail", jobs[0]!);
  const status = await operator.session.get(paths.jobStatus(jobs[0]!));
  expect(status.ok && status.value.data.length).toBeLessThan(3_000);
});

describe("resuming", () => {
  test("is refused for a corrupt payload, allowed at an earlier stage of one's choice", async () => {
    const { jobs } = await aBatchOfJobs(intake, 2);
    await intake.jobs.commit(await claimJob(intake, "Pending", jobs[0]!), {
      kind: "fail",
      code: "MANIFEST_CORRUPT",
      message: "row 3",
    });
    expect(await resumeJob(operator.ctx, OPERATOR, jobs[0]!)).toMatchObject({
      kind: "refused",
      why: "its payload is corrupt: a new submission is needed",
    });

    await advance(connect, jobs[1]!, "Recording");
    await actOnJob(operator.ctx, OPERATOR, "fail", jobs[1]!);
    expect(await resumeJob(operator.ctx, OPERATOR, jobs[1]!, "Notify")).toMatchObject({ kind: "refused" });
    expect(await resumeJob(operator.ctx, OPERATOR, jobs[1]!, "Downloading")).toEqual({ kind: "applied" });
    expect(await readJob(operator.session, jobs[1]!)).toMatchObject({
      value: { status: { status: "Downloading", last_successful_status: "Provisioning", retry_count: 1 } },
    });
  });

  test("by two operators at once is done by one, and counts once", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    await actOnJob(operator.ctx, OPERATOR, "fail", jobs[0]!);
    const rivals = await Promise.all(
      Array.from({ length: 5 }, () => testWorker(connect, "operator", { register: false })),
    );
    const results = await Promise.all(rivals.map((r) => resumeJob(r.ctx, OPERATOR, jobs[0]!)));
    expect(results.filter((r) => r.kind === "applied")).toHaveLength(1);
    expect(await readJob(operator.session, jobs[0]!)).toMatchObject({ value: { status: { retry_count: 1 } } });
    await Promise.all(rivals.map((r) => r.close()));
  });
});

test("every operator's action is a link of one unbroken chain", async () => {
  const { jobs } = await aBatchOfJobs(intake, 3);
  await Promise.all(jobs.map((job, i) => changePriority(operator.ctx, OPERATOR, job, 10 + i)));
  await actOnJob(operator.ctx, { name: "otto", reason: "no longer wanted" }, "fail", jobs[0]!);
  const names = await operator.session.children(paths.auditRecords);
  const chain: AuditRecord[] = [];
  for (const name of names.ok ? [...names.value.names].sort() : []) {
    const node = await operator.session.get(paths.auditRecord(Number(name)));
    const record = node.ok ? records.auditRecord.decode(node.value.data) : null;
    if (record?.ok === true) chain.push(record.value);
  }
  expect(chain.map((r) => r.actor)).toEqual(["olga", "olga", "olga", "otto"]);
  expect(auditProblem(chain)).toBeNull();
  expect(auditProblem(chain.map((r, i) => (i === 1 ? { ...r, actor: "nobody" } : r)))).toBe(
    "record 3 does not follow its predecessor",
  );
});

test("the audit keeps the caller's id beside the name; records without one, as older versions wrote them, still verify", async () => {
  const { jobs } = await aBatchOfJobs(intake, 3);
  const otto = { name: "otto", reason: "a test" };
  await changePriority(operator.ctx, otto, jobs[0]!, 10);
  await changePriority(operator.ctx, { ...otto, caller: "token:abcdefgh2345" }, jobs[1]!, 10);
  await changePriority(operator.ctx, { ...otto, caller: `jwt:${"x".repeat(5_000)}` }, jobs[2]!, 10);
  const stored = async (number: number): Promise<string> => {
    const node = await operator.session.get(paths.auditRecord(number));
    return node.ok ? node.value.data.toString("utf8") : "";
  };
  const texts = await Promise.all([1, 2, 3].map(stored));
  const chain = texts.map((text) => JSON.parse(text) as AuditRecord);
  expect(chain.map(({ actor }) => actor)).toEqual(["otto", "otto", "otto"]);
  // Byte for byte what versions wrote that kept no id.
  expect(Object.keys(chain[0]!)).toEqual(["number", "op", "at", "actor", "action", "target", "reason", "previous"]);
  expect(chain[1]!.caller).toBe("token:abcdefgh2345");
  expect(Buffer.byteLength(chain[2]!.caller!)).toBeLessThanOrEqual(300);
  expect(auditProblem(chain)).toBeNull();
  const forged = { ...chain[1]!, caller: "token:zzzzzzzzzzzz" };
  expect(auditProblem([chain[0]!, forged, chain[2]!])).toBe("record 3 does not follow its predecessor");
});

describe("room in the working volume", () => {
  test("cannot be given away twice: the second decision made from the same sum is refused", async () => {
    const { jobs } = await aBatchOfJobs(intake, 2);
    for (const job of jobs) await advance(connect, job, "Provisioning");
    const [a, b] = await Promise.all([testWorker(connect, "provisioner"), testWorker(connect, "provisioner")]);
    const [ledgerA, ledgerB] = await Promise.all([
      makeSpaceReader(a.session).read(),
      makeSpaceReader(b.session).read(),
    ]);
    const [jobA, jobB] = await Promise.all([
      claimJob(a, "Provisioning", jobs[0]!),
      claimJob(b, "Provisioning", jobs[1]!),
    ]);
    const results = await Promise.all([
      a.jobs.commit(jobA, { kind: "done", changes: {} }, spaceGuard(ledgerA!)),
      b.jobs.commit(jobB, { kind: "done", changes: {} }, spaceGuard(ledgerB!)),
    ]);
    expect(results.map((r) => r.kind).sort()).toEqual(["applied", "guarded"]);
    await Promise.all([a.close(), b.close()]);
  });

  test("counts what admitted, failed and unswept jobs need", async () => {
    const { jobs } = await aBatchOfJobs(intake, 2);
    const estimator = await testWorker(connect, "estimator");
    for (const job of jobs) {
      await advance(connect, job, "Estimating");
      await estimator.jobs.commit(await claimJob(estimator, "Estimating", job), {
        kind: "done",
        changes: { spaceNeeded: 1000 },
      });
    }
    const reader = makeSpaceReader(estimator.session);
    expect((await reader.read())?.reservedBytes).toBe(0);
    const provisioner = await testWorker(connect, "provisioner");
    for (const job of jobs)
      await provisioner.jobs.commit(await claimJob(provisioner, "Provisioning", job), { kind: "done", changes: {} });
    expect((await reader.read())?.reservedBytes).toBe(2000);
    await actOnJob(operator.ctx, OPERATOR, "fail", jobs[0]!);
    expect((await reader.read())?.reservedBytes).toBe(2000);
    await Promise.all([estimator.close(), provisioner.close()]);
  });
});

describe("locks of objects", () => {
  test("are taken all or none, and free again when let go or when the session ends", async () => {
    const both = [paths.storageLock("ark:/99999/a"), paths.localIdLock("loc;1 😀\u0007", "ark:/99999/owner")];
    const first = await acquireObjectLocks(intake.ctx, intake.actor, both);
    if (first.kind !== "acquired") throw new Error(first.kind);
    const other = await testWorker(connect, "processor");
    const wanted = [paths.storageLock("ark:/99999/b"), both[0]!];
    expect(await acquireObjectLocks(other.ctx, other.actor, wanted)).toEqual({ kind: "busy", path: both[0] });
    expect(await other.session.exists(wanted[0]!)).toEqual({ ok: true, value: null });
    await releaseObjectLocks(intake.ctx, first.locks);
    expect((await acquireObjectLocks(other.ctx, other.actor, wanted)).kind).toBe("acquired");
    await other.close();
    expect((await acquireObjectLocks(intake.ctx, intake.actor, wanted)).kind).toBe("acquired");
  });
});
