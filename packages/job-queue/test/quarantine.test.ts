/** Records that cannot be read: they are set aside, and everything else of the shard is served. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { later, openRawSession, testZooKeeper, type RawSession, type TestZooKeeper } from "@sluice/testkit";
import { ownShard, type ShardOwner } from "../src/owner/owner.ts";
import { paths } from "../src/paths.ts";
import { command, idOf, startProcess, takenOf, type Process } from "./support/owners.ts";

let zooKeeper: TestZooKeeper;
let process: Process;
let raw: RawSession;
let owner: ShardOwner;

beforeEach(async () => {
  zooKeeper = await testZooKeeper();
  process = await startProcess(zooKeeper.connect, "api-1");
  raw = await openRawSession(zooKeeper.connect);
  owner = await process.own();
});
afterEach(() => Promise.all([process.close(), raw.close()]));

/** Writes these bytes over the record of a job, as a newer version or a wrong hand would. */
async function plant(path: string, data: string): Promise<void> {
  const found = await process.session.get(path);
  if (!found.ok) throw new Error(found.code);
  const { version } = found.value.stat;
  const answer = await process.session.multi([{ op: "set", path, data: Buffer.from(data), version }]);
  if (!answer.ok) throw new Error(answer.code);
}

async function recordText(path: string): Promise<string> {
  const found = await process.session.get(path);
  return found.ok ? found.value.data.toString() : found.code;
}

const PLANTED: readonly (readonly [string, (text: string) => string, string])[] = [
  ["an unknown field", (text) => text.replace("{", '{"lane":7,'), "bad"],
  ["a wrong nextRun", (text) => text.replace(/"nextRun":\d+/, '"nextRun":"soon"'), "bad"],
  ["a state of another version", (text) => text.replace('"QUEUED"', '"SNOOZED"'), "bad"],
  ["no JSON at all", () => "\u0000not json", "unreadable"],
  ["nothing", () => "", "unreadable"],
];

describe.each(PLANTED)("a record with %s", (_, spoil, name) => {
  test("is FAILED with its reason and its bytes; the others of the shard are served", async () => {
    const bad = idOf(await owner.ask(command("CreateJob", { name: "bad", data: '{"a":1}' })));
    const good = idOf(await owner.ask(command("CreateJob", { name: "good" })));
    const text = spoil(await recordText(paths.job(bad)));
    await plant(paths.job(bad), text);

    const next = await process.own();
    expect(next.quarantined).toEqual([{ id: bad, problem: expect.stringMatching(/^job/) as unknown }]);
    expect(takenOf(await next.ask(command("GetJob", { name: "*" })))?.view.jobID).toBe(good);
    const tenant = name === "bad" ? "default" : "system";
    const described = await next.ask({ verb: "DescribeJob", tenant, id: bad });
    expect(described).toMatchObject({
      content: { kind: "record", record: { name: name === "bad" ? "bad" : `unreadable/${bad}`, state: "FAILED" } },
    });
    if (described?.content.kind !== "record") throw new Error("no record");
    expect(described.content.record.unreadable).toEqual({ problem: next.quarantined[0]?.problem, bytes: text });
    expect(described.content.record.step).toContain("cannot be read");
    expect(await recordText(paths.job(bad))).toBe(text);

    const deleted = await next.ask({ verb: "DeleteJob", tenant, id: bad });
    expect(deleted?.status.code).toBe(200);
    expect(next.quarantined).toEqual([]);
    expect(await recordText(paths.job(bad))).toBe("NO_NODE");
  });
});

test("a record whose large data is gone is set aside as well, and can be deleted", async () => {
  const bad = idOf(await owner.ask(command("CreateJob", { name: "bad", data: `{"a":"${"x".repeat(9_000)}"}` })));
  await process.session.multi([{ op: "delete", path: paths.data(bad), version: 0 }]);
  const next = await process.own();
  expect(next.quarantined).toEqual([{ id: bad, problem: expect.stringContaining("data") as unknown }]);
  expect((await next.ask(command("DeleteJob", { jobID: bad })))?.status.code).toBe(200);
});

test.each(["DeleteJob", "RequeueJobs"])("large data under a record of which nothing is left: %s", async (verb) => {
  const large = `{"a":"${"x".repeat(9_000)}"}`;
  const bad = idOf(await owner.ask(command("CreateJob", { name: "bad", data: large })));
  await plant(paths.job(bad), "?");
  const next = await process.own();
  const tenant = "system";
  const list = { decrementFailures: false, leases: null, name: null };
  const told = await next.ask(
    verb === "DeleteJob" ? { verb, tenant, id: bad } : { verb: "RequeueJobs", tenant, ids: [bad], ...list },
  );
  expect(told?.status.code).toBe(200);
  expect(next.over.aborted).toBe(false);
  const last = await process.own();
  expect(last.quarantined).toEqual([]);
  expect((await last.ask({ verb: "QueryJob", tenant, id: bad }))?.content).toMatchObject(
    verb === "DeleteJob" ? { kind: "none" } : { job: { data: large } },
  );
});

test("requeued, a record loses what could not be read, and runs", async () => {
  const bad = idOf(await owner.ask(command("CreateJob", { name: "bad", data: '{"a":1}' })));
  await plant(paths.job(bad), (await recordText(paths.job(bad))).replace("{", '{"lane":7,'));
  const next = await process.own();
  expect((await next.ask(command("RequeueJobs", { jobIDs: String(bad) })))?.status.code).toBe(200);
  expect(takenOf(await next.ask(command("GetJob", { name: "bad" })))?.view).toMatchObject({
    jobID: bad,
    data: '{"a":1}',
  });
  expect((await process.own()).quarantined).toEqual([]);
});

test("a child of a record that cannot be read is kept, and ends as usual", async () => {
  const parent = idOf(await owner.ask(command("CreateJob", { name: "parent" })));
  const { token } = takenOf(await owner.ask(command("GetJob", { name: "parent" })))!;
  const child = idOf(await owner.ask(command("CreateJob", { name: "child", parentJobID: parent })));
  await owner.ask(command("FinishJob", { jobID: parent, lease: token }));
  await plant(paths.job(parent), (await recordText(paths.job(parent))).replace("{", '{"lane":7,'));
  const next = await process.own();
  const taken = takenOf(await next.ask(command("GetJob", { name: "child" })))!;
  expect(taken.view.jobID).toBe(child);
  expect((await next.ask(command("FailJob", { jobID: child, lease: taken.token })))?.status.code).toBe(200);
});

test("a journal whose record cannot be read is told so, and costs nobody else anything", async () => {
  await owner.ask({ verb: "ReserveIds", guest: "api-7" });
  await plant(paths.guest(0, "api-7"), "?");
  const next = await process.own();
  expect((await next.ask({ verb: "ReserveIds", guest: "api-7" }))?.status).toMatchObject({ code: 503 });
  expect((await next.ask({ verb: "ReserveIds", guest: "api-8" }))?.status.code).toBe(200);
  expect(next.quarantined).toEqual([{ id: null, problem: expect.stringContaining("api-7") as unknown }]);
});

test("types that crash: a list that cannot be read is empty, and is written anew", async () => {
  await owner.ask({ verb: "CrashJobs", tenant: "default", names: ["x"] });
  await plant(paths.crashed(0), "?");
  const next = await process.own();
  expect(next.quarantined).toEqual([{ id: null, problem: expect.stringContaining("crash") as unknown }]);
  expect((await next.ask({ verb: "CrashJobs", tenant: "default", names: ["y"] }))?.status.code).toBe(200);
  expect((await process.own()).quarantined).toEqual([]);
});

test("what a restore left behind: when it cannot be read, the shard is served, and it is told", async () => {
  const restored = { op: "create", path: paths.restored(0), data: Buffer.from("?") } as const;
  await raw.multi([restored]);
  const next = await process.own();
  expect(next.quarantined).toEqual([{ id: null, problem: expect.stringContaining("restored") as unknown }]);
  expect((await next.ask(command("CreateJob", { name: "good" })))?.status.code).toBe(200);
});

test("a shard whose ids cannot be read is nobody's, and nothing is written", async () => {
  await owner.resign();
  await plant(paths.ids(0), "?");
  const before = await process.session.get(paths.ids(0));
  expect(await ownShard(0, { session: process.session, apiId: "api-1", later })).toMatchObject({
    ok: false,
    isBroken: true,
    why: expect.stringContaining("ids") as unknown,
  });
  expect(await process.session.get(paths.ids(0))).toEqual(before);
});

test("a shard that cannot be loaded leaves neither a term nor a counter behind", async () => {
  const blocks = await process.session.children(paths.counters(0));
  await owner.resign();
  // A block whose name is no number: nobody can say what stands below it.
  await raw.multi([{ op: "create", path: `${paths.jobs(0)}/x`, data: Buffer.alloc(0) }]);
  for (let n = 0; n < 3; n++)
    expect(await ownShard(0, { session: process.session, apiId: "api-1", later })).toMatchObject({ ok: false });
  expect(await process.session.children(paths.counters(0))).toMatchObject({
    value: { names: blocks.ok && blocks.value.names },
  });
  expect(await process.session.children(paths.terms)).toMatchObject({ value: { names: [] } });
});
