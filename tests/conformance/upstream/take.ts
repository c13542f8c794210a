/** GetJob and GetJobs, and what becomes of answers that nobody hears. */
import { expect } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { msOf, NO_JOB, OK, type Shown } from "../case.ts";
import { cases, type Client } from "./client.ts";

const PRIORITY = { low: "0", medium: "500", high: "1000" } as const;
type Level = keyof typeof PRIORITY;
const PAST = "2020-01-01 00:00:00";
const FUTURE = "2100-01-01 00:00:00";

/** A job of this priority and name, such as `high_1`. */
const levelled = (me: Client, name: string, more: object = {}): Promise<number> =>
  me.create({ name: me.stage.name(name), jobPriority: PRIORITY[name.split("_")[0] as Level], ...more });

/** Which of the case's jobs come, by the last part of their names. */
async function taken(me: Client, count: number): Promise<readonly string[]> {
  const parts = [];
  for (let n = 0; n < count; n++)
    parts.push(String((await me.get(me.stage.name("*")))["name"]).slice(me.stage.name("").length));
  return parts;
}

async function plainJob(me: Client, verb: string): Promise<void> {
  const name = me.stage.name();
  const jobID = await me.create();
  const before = await me.seen(jobID);
  expect((await me.ok(verb, { name })).content).toEqual({ jobID, name, data: {} });
  const { state, lastRun, ...rest } = await me.seen(jobID);
  expect([state, { ...rest, state: "QUEUED", lastRun: "" }]).toEqual(["RUNNING", before]);
  expect(msOf(lastRun)).toBeGreaterThanOrEqual(msOf(before["created"]));
}

/** Taken by a command that is carried out later, for whose answer nobody waits: the jobs go back. */
async function unheard(me: Client, verb: string, retryAfter: string): Promise<void> {
  const name = me.stage.name(`${verb}${retryAfter === "" ? "" : "-again"}`);
  const count = verb === "GetJob" ? 1 : 3;
  const ids = [];
  for (let n = 0; n < count; n++) ids.push(await me.create({ name, retryAfter }));
  const many = verb === "GetJobs" ? { numResults: count } : {};
  const commandExecuteTime = (Date.now() + 500) * 1_000;
  expect(await me.status(verb, { name, ...many, commandExecuteTime })).toBe("202 Successfully queued");
  for (const jobID of ids) {
    await waitFor(async () => {
      const { events } = (await me.ok("DescribeJob", { jobID })).content as { events: readonly (readonly unknown[])[] };
      return events.some(([, what]) => what === "requeue");
    });
  }
  const { content } = await me.ok(verb, { name, ...many });
  const jobs = verb === "GetJob" ? [content] : (content as { readonly jobs: readonly unknown[] }).jobs;
  expect(jobs.map((job) => (job as Shown)["jobID"]).sort()).toEqual(ids.sort());
  for (const jobID of ids) await me.ok("FinishJob", { jobID });
}

export const TAKE = cases({
  "GetJob::getJob": (me) => plainJob(me, "GetJob"),
  "GetJob::getJobWithHttp": (me) => plainJob(me, "GetJob / HTTP/1.1"),
  "GetJob::withNumResults": async (me) =>
    expect(await me.status("GetJob", { name: me.stage.name(), numResults: 20 })).toBe(
      "402 Cannot use numResults with GetJob; try GetJobs",
    ),
  "GetJob::noJobFound": async (me) => expect(await me.status("GetJob", { name: me.stage.name() })).toBe(NO_JOB),
  "GetJob::testPriorities": async (me) => {
    for (const name of ["low_5", "high_1", "medium_3", "high_2", "medium_4"])
      await levelled(me, name, { firstRun: PAST });
    expect(await taken(me, 5)).toEqual(["high_1", "high_2", "medium_3", "medium_4", "low_5"]);
  },
  "GetJob::testPrioritiesWithDifferentNextRunTimes": async (me) => {
    const names = ["low_1", "medium_2", "high_3", "high_4", "medium_5", "low_6"];
    const ids = [];
    for (const name of names) ids.push(await levelled(me, name, { firstRun: FUTURE }));
    for (const [n, jobID] of ids.slice(0, 3).entries()) {
      expect(await me.status("GetJob", { name: me.stage.name("*") })).toBe(NO_JOB);
      await me.makeDue(jobID);
      expect(await taken(me, 1)).toEqual([names[n]]);
    }
    for (const jobID of ids.slice(3).reverse()) await me.makeDue(jobID);
    expect(await taken(me, 3)).toEqual(["high_4", "medium_5", "low_6"]);
  },
  "GetJob::testWithFinishedAndCancelledChildren": async (me) => {
    const parent = await me.create({ name: me.stage.name("parent"), data: '{"p":1}' });
    await me.get(me.stage.name("parent"));
    const child = (name: string, data: string): Promise<number> =>
      me.create({ name: me.stage.name(name), data, parentJobID: parent });
    const [finished, cancelled] = [await child("finished", '{"f":1}'), await child("cancelled", '{"c":1}')];
    await me.ok("FinishJob", { jobID: parent });
    expect(await me.get(me.stage.name("finished"), { fields: "all" })).toMatchObject({
      data: { f: 1 },
      parentJobID: parent,
      parentData: { p: 1 },
    });
    await me.ok("CancelJob", { jobID: cancelled });
    await me.ok("FinishJob", { jobID: finished });
    expect(await me.state(parent)).toBe("QUEUED");
    expect(await me.get(me.stage.name("parent"))).toEqual({
      jobID: parent,
      name: me.stage.name("parent"),
      data: { p: 1 },
      finishedChildJobs: [{ jobID: finished, data: { f: 1 } }],
      cancelledChildJobs: [{ jobID: cancelled, data: { c: 1 } }],
    });
  },
  "GetJob::testPrioritiesWithRunQueued": async (me) => {
    await levelled(me, "low_5", { firstRun: FUTURE });
    const again = [
      await levelled(me, "high_1", { retryAfter: "+1 HOUR" }),
      await levelled(me, "medium_4", { retryAfter: "+1 HOUR" }),
    ];
    expect(await taken(me, 2)).toEqual(["high_1", "medium_4"]);
    expect(await me.states(again)).toEqual(["RUNQUEUED", "RUNQUEUED"]);
    for (const jobID of again) expect(await me.rest(jobID)).toBe(3_600);
    for (const name of ["high_2", "medium_3", "low_6"]) await levelled(me, name, { firstRun: PAST });
    for (const jobID of again) await me.makeDue(jobID);
    const order = await taken(me, 5);
    expect(order.map((name) => name.split("_")[0])).toEqual(["high", "high", "medium", "medium", "low"]);
    expect(await me.status("GetJob", { name: me.stage.name("*") })).toBe(NO_JOB);
  },
  "GetJob::testMultipleNames": async (me) => {
    const [low, high, medium] = [await levelled(me, "low"), await levelled(me, "high"), await levelled(me, "medium")];
    const another = await levelled(me, "medium");
    const names = (...parts: readonly string[]): string => parts.map((part) => me.stage.name(part)).join(",");
    expect((await me.get(names("medium", "high"))).jobID).toBe(high);
    expect((await me.get(names("low", "medium", "high"))).jobID).toBe(medium);
    const { content } = await me.ok("GetJobs", { name: names("low", "medium"), numResults: 2 });
    expect((content as { jobs: readonly Shown[] }).jobs.map(({ jobID }) => jobID)).toEqual([another, low]);
  },
  "GetJob::testPriorityParameter": async (me) => {
    for (const name of ["low_5", "high_1", "medium_3", "high_2", "medium_4"])
      await levelled(me, name, { firstRun: PAST });
    for (const [level, count] of [
      ["low", 1],
      ["medium", 2],
      ["high", 2],
    ] as const) {
      const asked = { name: me.stage.name("*"), numResults: 2, jobPriority: PRIORITY[level] };
      const { jobs } = (await me.ok("GetJobs", asked)).content as { readonly jobs: readonly Shown[] };
      expect(jobs.map(({ name }) => String(name).includes(`${level}_`))).toEqual(Array(count).fill(true));
    }
  },
  "GetJob::testInvalidJobPriority": async (me) =>
    expect(await me.status("GetJobs", { name: me.stage.name("*"), numResults: 1, jobPriority: 111 })).toBe(
      "402 Invalid priority value",
    ),
  "GetJob::testRetryableParentJobs": async (me) => {
    const [parentName, childName] = [me.stage.name("parent"), me.stage.name("child")];
    const parent = await me.running({ name: parentName, retryAfter: "+1 SECOND" });
    const child = await me.create({ name: childName, parentJobID: parent });
    expect(await me.states([parent, child])).toEqual(["RUNQUEUED", "PAUSED"]);
    await waitFor(async () => (await me.status("GetJob", { name: parentName })) === OK);
    expect(await me.states([parent, child])).toEqual(["RUNQUEUED", "PAUSED"]);
    expect(await me.status("GetJob", { name: childName })).toBe(NO_JOB);
    await me.ok("FinishJob", { jobID: parent });
    expect(await me.states([parent, child])).toEqual(["PAUSED", "QUEUED"]);
    expect((await me.get(childName)).jobID).toBe(child);
    await me.ok("FinishJob", { jobID: child });
    expect(await me.states([parent, child])).toEqual(["QUEUED", "FINISHED"]);
    const { nextRun, lastRun } = await me.seen(parent);
    expect(nextRun).toBe(lastRun);
    expect((await me.get(parentName)).jobID).toBe(parent);
    await me.ok("FinishJob", { jobID: parent });
    expect(await me.states([parent, child])).toEqual(["-", "-"]);
  },
  "GetJob::crash patterns: due jobs of a crashing type are FAILED": async (me) => {
    const [bad, later] = [me.stage.name("bad"), me.stage.name("bad-later")];
    await me.ok("CrashBedrockJob", { names: me.stage.name("bad*") });
    const ids = [await me.create({ name: bad }), await me.create({ name: later, firstRun: FUTURE })];
    expect((await me.ok("GetJob", { name: bad })).content).toEqual({});
    expect(await me.states(ids)).toEqual(["FAILED", "QUEUED"]);
    await me.ok("ClearCrashedBedrockJobs");
  },
  "GetJob::crash patterns: others are handed out, and all again when the list is cleared": async (me) => {
    await me.ok("CrashBedrockJob", { names: me.stage.name("bad*") });
    const good = await me.running({ name: me.stage.name("good") });
    expect(await me.state(good)).toBe("RUNNING");
    await me.ok("ClearCrashedBedrockJobs");
    await me.running({ name: me.stage.name("bad") });
  },
  "FailedJobReply::failSendingResponse": async (me) => {
    for (const verb of ["GetJob", "GetJobs"])
      for (const retryAfter of ["", "+1 HOUR"]) await unheard(me, verb, retryAfter);
  },
  "InfiniteRetryAfter::testInfiniteTries": async (me) => {
    const jobID = await me.create({ retryAfter: "+0 SECONDS" });
    for (let n = 1; n <= 10; n++) {
      expect((await me.get()).jobID).toBe(jobID);
      const { state, data } = await me.seen(jobID);
      expect([state, data]).toEqual(["RUNQUEUED", { retryAfterCount: n }]);
    }
    expect((await me.ok("GetJob", { name: me.stage.name() })).content).toEqual({});
    expect(await me.state(jobID)).toBe("FAILED");
  },
});
