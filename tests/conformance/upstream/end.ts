/** FinishJob, RetryJob and FailJob. */
import { expect } from "@jest/globals";
import { GONE, msOf } from "../case.ts";
import { cases, type Client } from "./client.ts";

const NOT_RUNNING = "405 Can only retry/finish RUNNING and RUNQUEUED jobs";
const NOT_RUNNING_TO_FAIL = "405 Can only fail RUNNING or RUNQUEUED jobs";
const NOBODY = 999_999_999_999;
const HOURLY = "STARTED, +1 HOUR";
const SOON = "2100-01-01 00:00:00";

const nobody = async (me: Client, verb: string): Promise<void> =>
  expect(await me.status(verb, { jobID: NOBODY })).toBe(GONE);

const queued = async (me: Client, verb: string, refused: string): Promise<void> =>
  expect(await me.status(verb, { jobID: await me.create() })).toBe(refused);

/** Where upstream writes into its database: the parent of a running child is taken out of its wait. */
async function parentIsNotPaused(me: Client, verb: string): Promise<void> {
  const { parent, ids } = await me.parentOf("child");
  await me.ok("FinishJob", { jobID: parent });
  await me.get(me.stage.name("child"));
  await me.ok("RequeueJobs", { jobIDs: parent });
  expect(await me.status(verb, { jobID: ids[0] })).toBe("405 Can only retry/finish child job when parent is PAUSED");
}

async function removesEndedChildren(me: Client, verb: string): Promise<void> {
  const { parent, ids } = await me.parentOf("finished", "cancelled");
  await me.ok("FinishJob", { jobID: parent });
  await me.get(me.stage.name("finished"));
  await me.ok("CancelJob", { jobID: ids[1] });
  await me.ok("FinishJob", { jobID: ids[0] });
  expect(await me.state(parent)).toBe("QUEUED");
  expect((await me.get(me.stage.name("parent"))).jobID).toBe(parent);
  await me.ok(verb, { jobID: parent });
  expect(await me.states(ids)).toEqual(["-", "-"]);
}

async function updatesData(me: Client, verb: string): Promise<void> {
  const jobID = await me.running({ repeat: HOURLY });
  await me.ok(verb, { jobID, data: '{"bar":"foo","foo":"bar"}' });
  expect((await me.query(jobID))["data"]).toEqual({ bar: "foo", foo: "bar" });
}

/** Its schedule counts, whatever else is asked for. */
async function repeats(me: Client, verb: string, more: object = {}): Promise<void> {
  const jobID = await me.running({ repeat: HOURLY });
  await me.ok(verb, { jobID, ...more });
  expect([await me.state(jobID), await me.rest(jobID)]).toEqual(["QUEUED", 3_600]);
}

async function goes(me: Client, fields: object, end: object = {}, verb = "FinishJob"): Promise<void> {
  const jobID = await me.running({ ...fields });
  await me.ok(verb, { jobID, ...end });
  expect(await me.state(jobID)).toBe("-");
}

const bothOf = (verb: "FinishJob" | "RetryJob") =>
  cases({
    [`${verb}::nonExistentJob`]: (me) => nobody(me, verb),
    [`${verb}::notInRunningState`]: (me) => queued(me, verb, NOT_RUNNING),
    [`${verb}::parentIsNotPaused`]: (me) => parentIsNotPaused(me, verb),
    [`${verb}::removeFinishedAndCancelledChildren`]: (me) => removesEndedChildren(me, verb),
    [`${verb}::updateData`]: (me) => updatesData(me, verb),
    [`${verb}::hasRepeat`]: (me) => repeats(me, verb),
    [`${verb}::hasRepeatWithDelay`]: (me) => repeats(me, verb, { delay: 5 }),
    [`${verb}::hasRepeatWithNextRun`]: (me) => repeats(me, verb, { nextRun: "2017-09-07 23:11:11" }),
  });

/** Retried, and what became of it. */
async function retried(me: Client, fields: object, end: object, verb = "RetryJob"): Promise<number> {
  const jobID = await me.running({ ...fields });
  await me.ok(verb, { jobID, ...end });
  return jobID;
}

async function retriedAt(me: Client, fields: object, end: object, verb = "RetryJob"): Promise<void> {
  const jobID = await retried(me, fields, { nextRun: SOON, ...end }, verb);
  expect((await me.seen(jobID))["nextRun"]).toBe(SOON);
}

async function renamed(me: Client, change: Readonly<Record<string, unknown>>): Promise<void> {
  const jobID = await retried(me, { jobPriority: "500" }, { nextRun: SOON, ...change });
  const { jobPriority: priority = 500, name = me.stage.name() } = change;
  expect(await me.seen(jobID)).toMatchObject({ name, priority });
}

async function failed(me: Client, fields: object, before: string): Promise<void> {
  const jobID = await me.running({ ...fields });
  expect(await me.state(jobID)).toBe(before);
  await me.ok("FailJob", { jobID });
  expect(await me.state(jobID)).toBe("FAILED");
}

/** Missed since 2020: when it comes next. */
async function afterMissed(me: Client, repeat: string, nextRun: string): Promise<void> {
  const jobID = await retried(me, { repeat, firstRun: "2020-01-01 01:00:00" }, {}, "FinishJob");
  expect((await me.seen(jobID))["nextRun"]).toBe(nextRun);
}

export const ENDS = {
  ...bothOf("FinishJob"),
  ...bothOf("RetryJob"),
  ...cases({
    "FinishJob::inRunqueuedState": (me) => goes(me, { retryAfter: "+1 HOUR" }),
    "FinishJob::finishingParentUnPausesChildren": async (me) => {
      const { parent, ids } = await me.parentOf("one", "two");
      await me.ok("FinishJob", { jobID: parent });
      expect(await me.states([parent, ...ids])).toEqual(["PAUSED", "QUEUED", "QUEUED"]);
    },
    "FinishJob::deleteFinishedJobWithNoChildren": (me) => goes(me, {}),
    "FinishJob::hasDelay": (me) => goes(me, {}, { delay: 5 }),
    "FinishJob::hasDataDelete": (me) => goes(me, { repeat: HOURLY }, { data: '{"delete":true}' }),
    "FinishJob::hasNextRun": (me) => goes(me, {}, { nextRun: "2017-09-07 23:11:11" }),
    "FinishJob::simpleFinishJobWithHttp": (me) => goes(me, {}, {}, "FinishJob / HTTP/1.1"),
    "RetryJob::negativeDelay": async (me) =>
      expect(await me.status("RetryJob", { jobID: await me.running(), delay: -5 })).toBe(
        "402 Must specify a non-negative delay when retrying",
      ),
    "RetryJob::positiveDelay": async (me) => {
      const jobID = await me.running();
      const from = Date.now();
      await me.ok("RetryJob", { jobID, delay: 3_600 });
      const { nextRun } = await me.seen(jobID);
      const at = msOf(nextRun) - 3_600_000;
      // Between two clocks of one machine; the answer is of whole milliseconds.
      expect(at).toBeGreaterThanOrEqual(from - 1_000);
      expect(at).toBeLessThanOrEqual(Date.now() + 1_000);
    },
    "RetryJob::delayError": async (me) =>
      expect(await me.status("RetryJob", { jobID: await me.running(), delay: "100000000" })).toBe(
        "402 Malformed delay",
      ),
    "RetryJob::hasRepeatStartOfHour": async (me) => {
      const jobID = await retried(me, { repeat: "STARTED, START OF DAY, +5 MINUTES, START OF HOUR" }, {});
      const { lastRun, nextRun } = await me.seen(jobID);
      expect(nextRun).toBe(`${String(lastRun).slice(0, 10)} 00:00:00`);
    },
    "RetryJob::inRunqueuedState": async (me) => {
      const jobID = await retried(me, { retryAfter: "+1 HOUR" }, {});
      expect(await me.state(jobID)).toBe("QUEUED");
    },
    "RetryJob::simplyRetryWithNextRun": (me) => retriedAt(me, {}, {}),
    "RetryJob::changeNameAndPriority": (me) => renamed(me, { name: me.stage.name("new"), jobPriority: 1000 }),
    "RetryJob::changeName": (me) => renamed(me, { name: me.stage.name("new") }),
    "RetryJob::changePriority": (me) => renamed(me, { jobPriority: 1000 }),
    "RetryJob::hasRepeatWithNextRunIgnoreRepeat": (me) => retriedAt(me, { repeat: HOURLY }, { ignoreRepeat: "true" }),
    "RetryJob::hasDelayAndNextRun": (me) => retriedAt(me, {}, { delay: 900 }),
    "RetryJob::simpleRetryWithHttp": (me) => retriedAt(me, {}, {}, "RetryJob / HTTP/1.1"),
    "RetryJob::missed SCHEDULED, 4 hours or more: the missed time": (me) =>
      afterMissed(me, "SCHEDULED, +6 HOURS", "2020-01-01 07:00:00"),
    "RetryJob::missed SCHEDULED with START OF or WEEKDAY: the missed time": (me) =>
      afterMissed(me, "SCHEDULED, +1 DAY, START OF DAY, +1 HOUR", "2020-01-02 01:00:00"),
    "RetryJob::SCHEDULED in time: the next slot": async (me) => {
      const jobID = await me.create({ repeat: "SCHEDULED, +1 HOUR" });
      const { nextRun } = await me.seen(jobID);
      await me.get();
      await me.ok("FinishJob", { jobID });
      expect(msOf((await me.seen(jobID))["nextRun"]) - msOf(nextRun)).toBe(3_600_000);
    },
    "FailJob::nonExistentJob": (me) => nobody(me, "FailJob"),
    "FailJob::notInRunningRunqueuedState": (me) => queued(me, "FailJob", NOT_RUNNING_TO_FAIL),
    "FailJob::failJobInRunningState": (me) => failed(me, {}, "RUNNING"),
    "FailJob::failJobInRunqueuedState": (me) => failed(me, { retryAfter: "+1 HOUR" }, "RUNQUEUED"),
  }),
};
