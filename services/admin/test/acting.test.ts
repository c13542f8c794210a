/** What operators do through the API: every action, its confirmation, its audit record, and the races they lose. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Client } from "@sluice/client";
import {
  actOnJob,
  type AuditRecord,
  deleteJobsOfBatch,
  type JobId,
  openReport,
  paths,
  readBatch,
  readJob,
  records,
  setHold,
} from "@sluice/queue-core";
import {
  aBatchOfJobs,
  advance,
  aSubmission,
  claimJob,
  type TestWorker,
  testWorker,
  testZooKeeper,
} from "@sluice/testkit";
import { ADMIN, type JobRequest } from "@sluice/wire";
import { aTokenFor, COLLECTION, refusalOf, startAdmin, type TestAdmin, valueOf } from "./support.ts";

const WHY = "the disk was mended";
const [boundToken, boundRecord] = aTokenFor("operator", ["other_content"], "bound");
let connect: string;
let admin: TestAdmin;
let intake: TestWorker;
let reporter: TestWorker;
let olga: Client;

beforeAll(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
  reporter = await testWorker(connect, "reporter");
  admin = await startAdmin(connect, { more: [boundRecord] });
  olga = admin.as("operator");
});
afterAll(async () => {
  await admin.stop();
  await Promise.all([intake.close(), reporter.close()]);
});

const act = (client: Client, id: string, body: Omit<JobRequest, "reason">) =>
  client.call(ADMIN.jobAction, { params: { id }, body: { reason: WHY, ...body } });
const stateOf = async (id: JobId): Promise<string> => {
  const view = await readJob(intake.session, id);
  return view.kind === "found" ? view.value.status.status : view.kind;
};
async function lastAudit(): Promise<AuditRecord> {
  const { items } = valueOf(await admin.as("viewer").call(ADMIN.audit, { query: { limit: 1 } }));
  const node = await intake.session.get(paths.auditRecord(items[0]!.number));
  const record = node.ok ? records.auditRecord.decode(node.value.data) : null;
  if (record?.ok !== true) throw new Error("no audit");
  return record.value;
}

describe("a job", () => {
  test("is held, released, failed, resumed, given another priority and deleted; each change is in the audit", async () => {
    const { jobs } = await aBatchOfJobs(intake, 2);
    const id = jobs[0]!;
    const steps: readonly [Omit<JobRequest, "reason">, string][] = [
      [{ action: "hold" }, "Held"],
      [{ action: "release" }, "Pending"],
      [{ action: "fail", confirm: true }, "Failed"],
      [{ action: "resume" }, "Pending"],
      [{ action: "priority", priority: 42 }, "Pending"],
      [{ action: "fail", confirm: true }, "Failed"],
      [{ action: "delete", confirm: true }, "Deleted"],
    ];
    for (const [body, state] of steps) {
      expect(valueOf(await act(olga, id, body))).toMatchObject({ done: true });
      expect(await stateOf(id)).toBe(state);
      const action = body.action === "priority" ? "job.priority 42" : `job.${body.action}`;
      expect(await lastAudit()).toMatchObject({ actor: "operator", action, target: id, reason: WHY });
    }
  });

  test("goes on at an earlier stage that the operator chooses", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    await advance(connect, jobs[0]!, "Downloading");
    valueOf(await act(olga, jobs[0]!, { action: "fail", confirm: true }));
    const wrong = refusalOf(await act(olga, jobs[0]!, { action: "resume", at: "Notify" }));
    expect(wrong).toMatchObject({ status: 409, code: "CONFLICT" });
    expect(wrong.detail).toContain(
      "it can be resumed at Pending, Estimating, Provisioning, Downloading, not at Notify",
    );
    valueOf(await act(olga, jobs[0]!, { action: "resume", at: "Estimating" }));
    expect(await stateOf(jobs[0]!)).toBe("Estimating");
  });

  test("is not deleted, nor failed where nobody would be told, without confirmation", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    const failing = refusalOf(await act(olga, jobs[0]!, { action: "fail" }));
    expect(failing).toMatchObject({ status: 409, code: "CONFIRMATION_NEEDED" });
    expect(failing.detail).toContain("neither callback nor address");
    expect(await stateOf(jobs[0]!)).toBe("Pending");
    valueOf(await act(olga, jobs[0]!, { action: "hold" }));
    const deleting = refusalOf(await act(olga, jobs[0]!, { action: "delete" }));
    expect(deleting).toMatchObject({ status: 409, code: "CONFIRMATION_NEEDED" });
    expect(deleting.detail).toMatch(
      /is given up for good: the report of bid\d+ will list it as deleted, and has no recipients;/,
    );
    expect(await stateOf(jobs[0]!)).toBe("Held");
  });

  test("is failed without confirmation where the submission named somebody to tell", async () => {
    const { jobs } = await aBatchOfJobs(
      intake,
      1,
      aSubmission({ notification: "jo@example.org", submitted_by: "jo@example.org" }),
    );
    valueOf(await act(olga, jobs[0]!, { action: "fail" }));
    expect(await stateOf(jobs[0]!)).toBe("Failed");
  });

  test("answers who came too late with who was faster", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    await actOnJob(intake.ctx, { name: "otto", reason: "first" }, "hold", jobs[0]!);
    const late = refusalOf(await act(olga, jobs[0]!, { action: "hold" }));
    expect(late).toMatchObject({ status: 409, code: "CONFLICT" });
    expect(late.detail).toMatch(/a job that is Held cannot be asked to hold \(last changed by otto: hold, /);
  });

  test("is taken out of its worker's hands", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    const loaded = await claimJob(intake, "Pending", jobs[0]!);
    valueOf(await act(olga, jobs[0]!, { action: "fail", confirm: true }));
    expect((await intake.jobs.commit(loaded, { kind: "done", changes: {} })).kind).toBe("fenced");
  });

  test("is refused what does not fit together, by field", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    const refusal = refusalOf(await act(olga, jobs[0]!, { action: "priority" }));
    expect(refusal).toMatchObject({ status: 400, errors: [{ pointer: "/priority" }] });
    const unreasoned = await olga.call(ADMIN.jobAction, {
      params: { id: jobs[0]! },
      body: { action: "hold", reason: "" },
    });
    expect(refusalOf(unreasoned)).toMatchObject({ status: 400, errors: [{ pointer: "/reason" }] });
  });

  test("outside the operator's collections is not there", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    const bound = admin.withToken(boundToken);
    expect(refusalOf(await act(bound, jobs[0]!, { action: "hold" })).status).toBe(404);
    const onBatch = { params: { id: batch }, body: { action: "delete", reason: WHY, confirm: true } } as const;
    expect(refusalOf(await bound.call(ADMIN.batchAction, onBatch)).status).toBe(404);
    const hold = { params: { name: COLLECTION }, body: { action: "hold", reason: WHY } } as const;
    expect(refusalOf(await bound.call(ADMIN.collectionAction, hold)).status).toBe(404);
    const pause = await bound.call(ADMIN.queueAction, { body: { action: "hold", reason: WHY } });
    expect(refusalOf(pause).status).toBe(403);
    expect(await stateOf(jobs[0]!)).toBe("Pending");
  });
});

describe("a batch", () => {
  const order = (id: string, action: "release" | "delete" | "update-reporting" | "clean-up", confirm = false) =>
    olga.call(ADMIN.batchAction, { params: { id }, body: { action, reason: WHY, confirm } });

  test("that failed is reported on again after a retry, deleted only with confirmation, then cleaned up", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    valueOf(await act(olga, jobs[0]!, { action: "fail", confirm: true }));
    await openReport(reporter.ctx, batch);
    const claim = await reporter.batches.claim("Reporting", batch);
    if (claim.kind !== "acquired") throw new Error(claim.kind);
    const report = { last_modified: "", failed_jobs: [...jobs], successful_jobs: [] };
    await reporter.batches.settle(claim.loaded, { kind: "verdict", report });
    valueOf(await order(batch, "update-reporting"));
    expect(await lastAudit()).toMatchObject({ action: "batch.update-reporting", target: batch, reason: WHY });
    const again = await reporter.batches.claim("UpdateReporting", batch);
    if (again.kind !== "acquired") throw new Error(again.kind);
    await reporter.batches.settle(again.loaded, { kind: "verdict", report });

    const warned = refusalOf(await order(batch, "delete"));
    expect(warned).toMatchObject({ status: 409, code: "CONFIRMATION_NEEDED" });
    expect(warned.detail).toContain(`${batch} is given up for good, with all its jobs: its report has been sent`);
    valueOf(await order(batch, "delete", true));
    expect(await readBatch(intake.session, batch)).toMatchObject({ value: { status: { status: "Deleted" } } });
    expect(await deleteJobsOfBatch(reporter.ctx, batch, "reporter")).toBe(0);
    valueOf(await order(batch, "clean-up"));
    expect(await intake.session.exists(paths.cleanUp(batch))).toMatchObject({ value: { version: 0 } });
    expect(refusalOf(await order(batch, "clean-up")).detail).toContain("ordered already");
  });

  test("that is under way is refused with the reason", async () => {
    const { batch } = await aBatchOfJobs(intake, 1);
    const refused = refusalOf(await order(batch, "clean-up"));
    expect(refused).toMatchObject({ status: 409, detail: "a batch that is Processing cannot be cleaned up" });
  });
});

describe("holds and pauses", () => {
  const HOLD = { action: "hold", reason: WHY } as const;
  const RELEASE = { action: "release", reason: WHY } as const;

  test("an end that is over, or of a release, is refused by field", async () => {
    const bodies = [
      { action: "hold", until: "2001-01-01T00:00:00.000Z" },
      { action: "release", until: "2099-01-01T00:00:00.000Z" },
    ] as const;
    for (const body of bodies) {
      const refusal = refusalOf(await olga.call(ADMIN.queueAction, { body: { reason: WHY, ...body } }));
      expect(refusal).toMatchObject({ status: 400, errors: [{ pointer: "/until" }] });
    }
  });

  test("a collection is held until a time, and released", async () => {
    const params = { name: COLLECTION };
    const until = "2099-01-01T00:00:00.000Z";
    const held = valueOf(await olga.call(ADMIN.collectionAction, { params, body: { ...HOLD, until } }));
    expect(held.message).toBe(`${COLLECTION} is held until ${until}`);
    const { items } = valueOf(await olga.call(ADMIN.collections, {}));
    expect(items.find(({ name }) => name === COLLECTION)?.hold).toMatchObject({ by: "operator", why: WHY, until });
    const again = refusalOf(await olga.call(ADMIN.collectionAction, { params, body: HOLD }));
    expect(again.detail).toMatch(/is already held \(last changed by operator: collection.hold/);
    valueOf(await olga.call(ADMIN.collectionAction, { params, body: RELEASE }));
    const nobody = await olga.call(ADMIN.collectionAction, { params: { name: "no_such_content" }, body: HOLD });
    expect(refusalOf(nobody).status).toBe(404);
  });

  test("queue and stages are paused and go on; a worker is drained", async () => {
    valueOf(await olga.call(ADMIN.queueAction, { body: HOLD }));
    expect(await lastAudit()).toMatchObject({ action: "queue.hold", target: "ingest" });
    valueOf(await olga.call(ADMIN.queueAction, { body: RELEASE }));
    const stage = { params: { stage: "recorder" as const } };
    valueOf(await olga.call(ADMIN.stageAction, { ...stage, body: HOLD }));
    valueOf(await olga.call(ADMIN.stageAction, { ...stage, body: RELEASE }));
    const worker = { params: { id: intake.actor.worker } };
    valueOf(await olga.call(ADMIN.workerAction, { ...worker, body: HOLD }));
    const drained = await intake.session.exists(paths.drain(intake.actor.worker));
    expect(drained.ok && drained.value !== null).toBe(true);
    valueOf(await olga.call(ADMIN.workerAction, { ...worker, body: RELEASE }));
    const unknown = await olga.call(ADMIN.workerAction, { params: { id: "nobody" }, body: HOLD });
    expect(refusalOf(unknown).status).toBe(404);
  });

  test("a hold refuses the resume of its jobs, and says who put it up", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    valueOf(await act(olga, jobs[0]!, { action: "fail", confirm: true }));
    await setHold(intake.ctx, { name: "otto", reason: "rights" }, { kind: "collection", profile: COLLECTION });
    const refused = refusalOf(await act(olga, jobs[0]!, { action: "resume" }));
    expect(refused.detail).toMatch(/the collection sluice_demo_content is held \(last changed by otto/);
    valueOf(await olga.call(ADMIN.collectionAction, { params: { name: COLLECTION }, body: RELEASE }));
  });
});
