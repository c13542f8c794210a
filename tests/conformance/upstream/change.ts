/** CancelJob, DeleteJob, RequeueJobs, UpdateJob and QueryJob. */
import { expect } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { GONE, OK } from "../case.ts";
import { cases, type Client } from "./client.ts";

const NOBODY = 999_999_999_999;

/** A parent that waits for its children. */
async function waiting(me: Client, ...children: readonly string[]): ReturnType<Client["parentOf"]> {
  const family = await me.parentOf(...children);
  await me.ok("FinishJob", { jobID: family.parent });
  return family;
}

async function requeued(me: Client, fields: object, before: string): Promise<void> {
  const jobID = await me.running({ ...fields });
  expect(await me.state(jobID)).toBe(before);
  await me.ok("RequeueJobs", { jobIDs: jobID });
  expect(await me.state(jobID)).toBe("QUEUED");
}

/** RUNNING, RUNQUEUED and QUEUED. */
async function three(me: Client): Promise<readonly number[]> {
  const ids = [
    await me.running({ name: me.stage.name("job1") }),
    await me.running({ name: me.stage.name("job2"), retryAfter: "+1 HOUR" }),
    await me.create({ name: me.stage.name("job3"), retryAfter: "+1 HOUR" }),
  ];
  expect(await me.states(ids)).toEqual(["RUNNING", "RUNQUEUED", "QUEUED"]);
  return ids;
}

const CHANGES = { repeat: "HOURLY", jobPriority: "1000", nextRun: "2020-01-01 00:00:00" };
const CHANGED = { repeat: "HOURLY", priority: 1000, nextRun: "2020-01-01 00:00:00" };

async function updated(me: Client, fields: object, data: object): Promise<void> {
  const jobID = await me.create({ jobPriority: "500", ...fields });
  await me.ok("UpdateJob", { jobID, data: '{"key":"value"}', ...CHANGES });
  expect(await me.seen(jobID)).toMatchObject({ ...CHANGED, data });
}

export const CHANGE = cases({
  "CancelJob::cancelNonExistentJob": async (me) => expect(await me.status("CancelJob", { jobID: NOBODY })).toBe(GONE),
  "CancelJob::cancelJobWithChild": async (me) => {
    const { parent, ids } = await waiting(me, "child");
    await me.get(me.stage.name("child"));
    await me.ok("FinishJob", { jobID: ids[0] });
    expect(await me.state(parent)).toBe("QUEUED");
    expect(await me.status("CancelJob", { jobID: parent })).toBe(
      "404 Invalid jobID - Cannot cancel a job with children",
    );
  },
  "CancelJob::cancelChildJob": async (me) => {
    const { ids } = await waiting(me, "child", "sibling");
    await me.get(me.stage.name("sibling"));
    await me.ok("CancelJob", { jobID: ids[0] });
    expect(await me.states(ids)).toEqual(["CANCELLED", "RUNNING"]);
  },
  "CancelJob::cancelJobWithSiblings": async (me) => {
    const { parent, ids } = await waiting(me, "child", "child2");
    const states = [];
    for (const jobID of ids) {
      await me.ok("CancelJob", { jobID });
      states.push(await me.state(parent));
    }
    expect(states).toEqual(["PAUSED", "QUEUED"]);
  },
  "DeleteJob::deleteNonExistentJob": async (me) => expect(await me.status("DeleteJob", { jobID: NOBODY })).toBe(GONE),
  "DeleteJob::deleteJobWithChild": async (me) => {
    const { parent } = await waiting(me, "child");
    expect([await me.state(parent), await me.status("DeleteJob", { jobID: parent })]).toEqual([
      "PAUSED",
      "405 Can't delete a parent jobs with children running",
    ]);
  },
  "DeleteJob::deleteRunningJob": async (me) => {
    const { ids } = await waiting(me, "child");
    const { jobID } = await me.get(me.stage.name("child"));
    expect([await me.status("DeleteJob", { jobID }), await me.states(ids)]).toEqual([
      "405 Can't delete a RUNNING job",
      ["RUNNING"],
    ]);
  },
  "DeleteJob::deleteFinishedJob": async (me) => {
    const { parent, ids } = await waiting(me, "child");
    await me.get(me.stage.name("child"));
    await me.ok("FinishJob", { jobID: ids[0] });
    expect(await me.states(ids)).toEqual(["FINISHED"]);
    for (const jobID of [...ids, parent]) await me.ok("DeleteJob", { jobID });
  },
  "RequeueJobs::requeueRunningJob": (me) => requeued(me, {}, "RUNNING"),
  "RequeueJobs::requeueRunqueuedJob": (me) => requeued(me, { retryAfter: "+1 HOUR" }, "RUNQUEUED"),
  "RequeueJobs::autoRequeue": async (me) => {
    const name = me.stage.name();
    const jobID = await me.create({ retryAfter: "+0 SECONDS" });
    const takes = async (): Promise<number> => {
      const { events } = (await me.ok("DescribeJob", { jobID })).content as { events: readonly (readonly unknown[])[] };
      return events.filter(([, what]) => what === "requeue").length;
    };
    // More often than a job may be lost.
    for (let n = 0; n < 15; n++) {
      expect(await me.status("GetJob", { name, connection: "forget" })).toBe("202 Successfully queued");
      await waitFor(async () => (await me.state(jobID)) === "QUEUED" && (await takes()) >= Math.min(n + 1, 5));
    }
    expect((await me.get()).jobID).toBe(jobID);
    expect(await me.state(jobID)).toBe("RUNQUEUED");
  },
  "RequeueJobs::requeueMultipleJobs": async (me) => {
    const ids = await three(me);
    await me.ok("RequeueJobs", { jobIDs: ids.join(",") });
    expect(await me.states(ids)).toEqual(["QUEUED", "QUEUED", "QUEUED"]);
  },
  "RequeueJobs::changeMultipleJobNames": async (me) => {
    const [ids, name] = [await three(me), me.stage.name("newName")];
    await me.ok("RequeueJobs", { jobIDs: ids.join(","), name });
    for (const jobID of ids) expect(await me.query(jobID)).toMatchObject({ state: "QUEUED", name });
  },
  "RequeueJobs::testNextRunTime": async (me) => {
    const jobID = await me.create({ firstRun: "2100-01-01 00:00:00" });
    await me.ok("RequeueJobs", { jobIDs: jobID });
    const { created, nextRun } = await me.seen(jobID);
    expect(nextRun).toBe(created);
  },
  "UpdateJob::updateJob": (me) => updated(me, {}, { key: "value" }),
  "UpdateJob::updateMockedJob": async (me) => {
    const jobID = await me.create({ mockRequest: "1" });
    await me.ok("UpdateJob", { jobID, data: '{"key":"value"}', ...CHANGES });
    expect(await me.seen(jobID)).toMatchObject({ ...CHANGED, data: { key: "value", mockRequest: true } });
  },
  "UpdateJob::updateStringValueLookingLikeNumber": async (me) => {
    const jobID = await me.create();
    await me.ok("UpdateJob", { jobID, data: '{"key":"123"}' });
    expect((await me.query(jobID))["data"]).toEqual({ key: "123" });
  },
  "UpdateJob::clearRepeatWithShouldClearRepeat": async (me) => {
    const jobID = await me.create({ repeat: "HOURLY" });
    await me.ok("UpdateJob", { jobID, data: "{}", repeat: "DAILY", shouldClearRepeat: 1 });
    expect((await me.seen(jobID))["repeat"]).toBe("");
  },
  "QueryJob::queryJob": async (me) => {
    const fields = { firstRun: "2042-04-02 00:42:42", repeat: "FINISHED, +1 DAY", data: '{"something":1}' };
    const jobID = await me.create({ ...fields, priority: "1000" });
    const seen = await me.seen(jobID);
    const { firstRun: nextRun, repeat } = fields;
    expect(seen).toMatchObject({
      jobID,
      name: me.stage.name(),
      nextRun,
      repeat,
      priority: 1000,
      data: { something: 1 },
    });
    expect([Object.keys(seen).length, seen["created"]]).toEqual([10, expect.stringMatching(/^\d{4}-/)]);
    expect(await me.status("QueryJob", { jobID })).toBe(OK);
  },
});
