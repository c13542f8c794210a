/** CreateJob and CreateJobs. */
import { expect } from "@jest/globals";
import { GONE, NO_JOB } from "../case.ts";
import { cases, type Client } from "./client.ts";

const NO_PARENT = "405 Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED";
const WITH_HTTP = " / HTTP/1.1";

/** A new job, field by field. */
async function made(me: Client, fields: object, verb = "CreateJob"): Promise<void> {
  const { content } = await me.ok(verb, { name: me.stage.name(), ...fields });
  const { jobID } = content as { readonly jobID: number };
  expect(jobID).toBeGreaterThan(0);
  const { created, nextRun, ...seen } = await me.seen(jobID);
  expect(String(nextRun).slice(0, 19)).toBe(created);
  const { data = "{}", priority = "500", ...more } = fields as Readonly<Record<string, string>>;
  const fresh = { jobID, state: "QUEUED", name: me.stage.name(), lastRun: "", repeat: "", retryAfter: "" };
  expect(seen).toEqual({ ...fresh, data: JSON.parse(data) as unknown, priority: Number(priority), ...more });
}

const listOf = (name: (part: string) => string): string =>
  JSON.stringify([
    { name: name("one"), data: { a: 1 }, repeat: "SCHEDULED, +1 HOUR" },
    { name: name("two"), data: { b: 2 } },
  ]);

async function madeTwo(me: Client, verb: string): Promise<void> {
  const { content } = await me.ok(verb, { jobs: listOf((part) => me.stage.name(part)) });
  expect(new Set((content as { readonly jobIDs: readonly number[] }).jobIDs).size).toBe(2);
}

export const MAKE = cases({
  "CreateJob::create": (me) => made(me, {}),
  "CreateJob::createWithHttp": (me) => made(me, {}, `CreateJob${WITH_HTTP}`),
  "CreateJob::createWithPriority": (me) => made(me, { priority: "1000" }),
  "CreateJob::createWithData": (me) => made(me, { data: '{"what":"ever"}' }),
  "CreateJob::createWithRepeat": (me) => made(me, { repeat: "SCHEDULED, +1 HOUR" }),
  "CreateJob::uniqueJob": async (me) => {
    const jobID = await me.create({ unique: "true" });
    const before = await me.seen(jobID);
    const again = async (more: object): Promise<unknown> => {
      expect(await me.create({ unique: "true", ...more })).toBe(jobID);
      return me.seen(jobID);
    };
    expect(await again({})).toEqual(before);
    expect(await again({ data: '{"a":"b"}' })).toEqual({ ...before, data: { a: "b" } });
    expect(await again({ data: '{"c":"d"}', overwrite: "false" })).toEqual({ ...before, data: { a: "b" } });
  },
  "CreateJob::uniqueJobMergeData": async (me) => {
    const first = { unique: "true", data: '{"a":1,"inner":{"x":1,"y":2},"list":[1,2]}' };
    const jobID = await me.create(first);
    expect(await me.create(first)).toBe(jobID);
    expect(await me.create({ unique: "true", data: '{"b":2,"inner":{"z":3},"list":[3]}' })).toBe(jobID);
    const { text } = await me.ok("QueryJob", { jobID });
    expect(text).toContain('"data":{"a":1,"inner":{"x":1,"y":2,"z":3},"list":[3],"b":2}');
  },
  "CreateJob::createWithBadData": async (me) =>
    expect(await me.status("CreateJob", { name: me.stage.name(), data: "words" })).toBe(
      "402 Data is not a valid JSON Object",
    ),
  "CreateJob::createWithBadRepeat": async (me) =>
    expect(await me.status("CreateJob", { name: me.stage.name(), repeat: "words" })).toBe("402 Malformed repeat"),
  "CreateJob::createChildWithQueuedParent": async (me) =>
    expect(await me.status("CreateJob", { name: me.stage.name("child"), parentJobID: await me.create() })).toBe(
      NO_PARENT,
    ),
  "CreateJob::createChildWithRunningGrandparent": async (me) => {
    const { parent, ids } = await me.parentOf("child");
    expect(await me.state(parent)).toBe("RUNNING");
    expect(await me.status("CreateJob", { name: me.stage.name(), parentJobID: ids[0] })).toBe(
      "405 Cannot create grandchildren",
    );
  },
  "CreateJob::retryWithMalformedValue": async (me) =>
    expect(await me.status("CreateJob", { name: me.stage.name(), retryAfter: "10" })).toBe("402 Malformed retryAfter"),
  "CreateJob::retryLifecycle": async (me) => {
    const name = me.stage.name();
    const jobID = await me.create({ retryAfter: "+1 HOUR" });
    expect(await me.get()).toEqual({ jobID, name, data: {} });
    expect([await me.state(jobID), await me.rest(jobID)]).toEqual(["RUNQUEUED", 3_600]);
    expect(await me.status("GetJob", { name })).toBe(NO_JOB);
    await me.makeDue(jobID);
    expect(await me.get()).toEqual({ jobID, name, data: { retryAfterCount: 1 } });
    expect(await me.status("GetJob", { name })).toBe(NO_JOB);
    await me.ok("FinishJob", { jobID });
    expect(await me.status("QueryJob", { jobID })).toBe(GONE);
  },
  "CreateJob::retryWithChildren": async (me) => {
    const parentJobID = await me.create({ retryAfter: "+5 SECONDS" });
    expect(await me.status("CreateJob", { name: me.stage.name("child"), parentJobID })).toBe(NO_PARENT);
  },
  "CreateJob::getManualJobWithRetryAfter": async (me) => {
    const name = `manual/${me.stage.name()}`;
    const jobID = await me.create({ name, retryAfter: "+5 SECONDS" });
    expect(await me.get(name)).toEqual({ jobID, name, data: {} });
    expect((await me.seen(jobID))["data"]).toEqual({});
    await me.ok("FinishJob", { jobID });
  },
  "CreateJobs::create": (me) => madeTwo(me, "CreateJobs"),
  "CreateJobs::createWithHttp": (me) => madeTwo(me, `CreateJobs${WITH_HTTP}`),
  "CreateJobs::createWithInvalidJson": async (me) =>
    expect(await me.status("CreateJobs", { jobs: `${listOf((part) => me.stage.name(part))}}` })).toBe(
      "401 Invalid JSON",
    ),
  "CreateJobs::createWithParentIDNotRunning": async (me) => {
    const parentJobID = String(await me.create());
    const jobs = [{ name: me.stage.name("child"), parentJobID }, { name: me.stage.name("other") }];
    expect(await me.status("CreateJobs", { jobs: JSON.stringify(jobs) })).toBe(NO_PARENT);
    expect(await me.status("GetJob", { name: me.stage.name("other") })).toBe(NO_JOB);
  },
  "CreateJobs::createWithParentMocked": async (me) => {
    const [name, mocked] = [me.stage.name(), { mockRequest: "true" }];
    const parent = await me.create(mocked);
    expect((await me.get(name, mocked)).jobID).toBe(parent);
    const names = [me.stage.name("one"), me.stage.name("two")];
    await me.ok("CreateJobs", {
      jobs: JSON.stringify(names.map((child) => ({ name: child, parentJobID: String(parent) }))),
    });
    await me.ok("FinishJob", { jobID: parent });
    const ids = [];
    for (const child of names) {
      const { jobID, data } = await me.get(child, mocked);
      expect(data).toEqual({ mockRequest: true });
      ids.push(jobID);
    }
    for (const jobID of [...ids, parent]) await me.ok("FinishJob", { jobID });
    expect(await me.states([...ids, parent])).toEqual(["-", "-", "-"]);
  },
  "CreateJobs::createUniqueChildWithWrongParent": async (me) => {
    const parents = [await me.running({ name: me.stage.name("p1") }), await me.running({ name: me.stage.name("p2") })];
    const child = (parent: number | undefined, more: object): string =>
      JSON.stringify([{ name: me.stage.name("child"), parentJobID: String(parent), ...more }]);
    await me.ok("CreateJobs", { jobs: child(parents[0], {}) });
    expect(await me.status("CreateJobs", { jobs: child(parents[1], { unique: "true" }) })).toBe(
      "404 Trying to create a child that already exists, but it is tied to a different parent",
    );
  },
});
