/** Jobs that Merritt's own libraries wrote, as operators meet them: in a state that nobody here works, or never imported. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type JobId, paths, readJob } from "@sluice/queue-core";
import { aBatchOfJobs, cdlWriter, type CdlWriter, type TestWorker, testWorker, testZooKeeper } from "@sluice/testkit";
import { ADMIN } from "@sluice/wire";
import { COLLECTION, refusalOf, startAdmin, type TestAdmin, valueOf } from "./support.ts";

let admin: TestAdmin;
let intake: TestWorker;
let cdl: CdlWriter;

beforeEach(async () => {
  const { connect } = await testZooKeeper();
  intake = await testWorker(connect, "batch-intake");
  cdl = await cdlWriter(connect);
  admin = await startAdmin(connect);
});
afterEach(async () => {
  await Promise.all([admin.stop(), intake.close(), cdl.close()]);
});

describe("a job in Storing", () => {
  /** As their recorder of a newer version would leave one of ours. */
  async function storingJob(): Promise<JobId> {
    const { jobs } = await aBatchOfJobs(intake, 1);
    const id = jobs[0]!;
    await cdl.overwrite(paths.jobStatus(id), '{"status":"Storing","last_successful_status":"Processing"}');
    await cdl.put(`/jobs/${id}/store`, '{"manifest_url":"http://ingest/m","mode":"add/9502/x"}');
    await cdl.remove(paths.queueEntry("Pending", 5, id));
    await cdl.put(`/jobs/states/storing/05-${id}`);
    return id;
  }

  test("is shown, listed and counted, and an operator can delete it and nothing else", async () => {
    const id = await storingJob();
    const operator = admin.as("operator");
    const shown = valueOf(await operator.call(ADMIN.job, { params: { id } }));
    expect(shown).toMatchObject({ status: "Storing", actions: ["delete", "priority"] });
    expect(valueOf(await operator.call(ADMIN.jobs, { query: { state: "Storing" } })).items).toMatchObject([
      { jid: id },
    ]);
    expect(valueOf(await operator.call(ADMIN.overview, {})).jobs).toMatchObject({ Storing: 1, Pending: 0 });
    const because = { reason: "the old store is gone" };
    const act = (action: "fail" | "delete") =>
      operator.call(ADMIN.jobAction, { params: { id }, body: { action, confirm: true, ...because } });
    expect(refusalOf(await act("fail"))).toMatchObject({ status: 409 });
    valueOf(await act("delete"));
    expect(await readJob(intake.session, id)).toMatchObject({ value: { status: { status: "Deleted" } } });
    expect(await intake.session.exists(`/jobs/states/storing/05-${id}`)).toMatchObject({ value: null });
  });
});

describe("a job that was never imported", () => {
  test.each(["Storing", "Held"])("is shown in %s; whoever wants to change it is told to import it", async (status) => {
    const submission = { profile: COLLECTION, type: "file", filename: "x" };
    const batch = await cdl.createBatch({ submission, status: "Reporting" });
    const id = await cdl.createJob({ batch, configuration: { ...submission, jobID: "jid-1" }, status });
    const operator = admin.as("operator");
    expect(valueOf(await operator.call(ADMIN.job, { params: { id } }))).toMatchObject({ status, actions: [] });
    const body = { action: "delete", confirm: true, reason: "give it up" } as const;
    const refusal = refusalOf(await operator.call(ADMIN.jobAction, { params: { id }, body }));
    expect(refusal).toMatchObject({ status: 409, detail: expect.stringContaining("sluice import") });
  });
});
