import { afterEach, beforeAll, expect, test } from "@jest/globals";
import { testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import {
  openWorkers,
  releaseSysid,
  renewSysid,
  reserveSysid,
  workerPaths,
  type Registration,
  type WorkerEntry,
  type Workers,
} from "../src/index.ts";

const SESSION_MS = 4_000;
const PATIENCE = { timeoutMs: 60_000, sessionlessMs: 0, keepDeadMs: 60_000 };
let zk: TestZooKeeper;
let name = 0;
const sessions: Session[] = [];

beforeAll(async () => {
  zk = await testZooKeeper();
});
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
});

async function connected(): Promise<Session> {
  const session = await connectSession({ connect: zk.connect, timeoutMs: SESSION_MS });
  sessions.push(session);
  return session;
}

async function registry(): Promise<{ readonly session: Session; readonly workers: Workers }> {
  const session = await connected();
  const opened = await openWorkers(session, () => Date.now());
  if (!opened.ok) throw new Error(opened.why);
  return { session, workers: opened.workers };
}

const facts = (): Parameters<Workers["register"]>[0] => ({
  Name: `w-${(name += 1)}`,
  InstanceId: `i-${name}`,
  PrivateIp: "10.0.0.7",
  PublicIp: "",
  sysid: name,
});

async function registered(workers: Workers, given = facts()): Promise<Registration> {
  const registering = await workers.register(given);
  if (!registering.ok) throw new Error(registering.why);
  return registering.registration;
}

async function entryOf(workers: Workers, wanted: string): Promise<WorkerEntry | null> {
  return (await workers.list())?.find(({ entry }) => entry.Name === wanted)?.entry ?? null;
}

interface Calls {
  readonly released: string[];
  readonly shutDown: string[];
}
const calls = (): Calls => ({ released: [], shutDown: [] });
const portsOf = (made: Calls, patience = PATIENCE): Parameters<Workers["harvest"]>[0] => ({
  patience,
  releaseWorker: (worker) => {
    made.released.push(worker);
    return Promise.resolve(true);
  },
  hook: {
    pauseMs: 0,
    tell: (entry) => {
      made.shutDown.push(entry.Name);
      return Promise.resolve(true);
    },
  },
});

test("E1, E2, E6: a worker is registered with all its fields and is ALIVE, in one place for all", async () => {
  const { workers } = await registry();
  const given = facts();
  await registered(workers, given);
  const entry = await entryOf((await registry()).workers, given.Name);
  expect(entry).toEqual({
    ...given,
    Job: "",
    Heartbeat: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    Stats: { Cpu: 0, Mem: 0 },
    Status: "ALIVE",
  });
});

test("E3, E4, E5: the job stands there while it runs, heartbeats go on beside it, and it is empty afterwards", async () => {
  const { workers } = await registry();
  const mine = await registered(workers);
  const { Name } = mine.entry;
  await mine.setJob("4017");
  const first = await entryOf(workers, Name);
  await waitFor(() => new Date().toISOString() > (first?.Heartbeat ?? ""));
  await mine.heartbeat({ Cpu: 20.5, Mem: 10 });
  const second = await entryOf(workers, Name);
  expect(second).toMatchObject({ Job: "4017", Stats: { Cpu: 20.5, Mem: 10 } });
  expect(second!.Heartbeat > first!.Heartbeat).toBe(true);
  await mine.setJob("");
  expect(await entryOf(workers, Name)).toMatchObject({ Job: "" });
});

test("two of one name never live at once", async () => {
  const first = await registry();
  const second = await registry();
  const given = facts();
  await registered(first.workers, given);
  expect(await second.workers.register({ ...given, InstanceId: "other" })).toMatchObject({
    ok: false,
    why: "name-taken",
  });
  await first.session.close();
  await waitFor(async () => (await second.workers.register({ ...given, InstanceId: "other" })).ok);
});

test("an orderly end leaves nothing behind", async () => {
  const { session, workers } = await registry();
  const mine = await registered(workers);
  await mine.leave();
  const left = await session.exists(workerPaths.worker(mine.entry.Name));
  expect(left).toEqual({ ok: true, value: null });
});

test("E20: whoever beats in time is left alone, whatever else is harvested", async () => {
  const { session, workers } = await registry();
  const mine = await registered(workers);
  await mine.setJob("1");
  const before = await session.get(workerPaths.worker(mine.entry.Name));
  const made = calls();
  await (await registry()).workers.harvest(portsOf(made));
  expect(await session.get(workerPaths.worker(mine.entry.Name))).toEqual(before);
  expect(made.shutDown).not.toContain(mine.entry.Name);
});

test("E19, E20, E21: of ten harvesters at once one declares the death, the hook is called once, the jobs are given back", async () => {
  const dying = await registry();
  const { Name } = (await registered(dying.workers)).entry;
  await dying.session.close();
  const harvesters = await Promise.all(Array.from({ length: 10 }, () => registry()));
  const made = calls();
  const results = await Promise.all(harvesters.map(({ workers }) => workers.harvest(portsOf(made))));
  expect(results.flatMap((result) => result?.declared ?? []).filter((each) => each === Name)).toEqual([Name]);
  expect(made.shutDown.filter((each) => each === Name)).toEqual([Name]);
  expect(made.released).toContain(Name);
  expect(await entryOf(harvesters[0]!.workers, Name)).toMatchObject({ Status: "DEAD", Job: "", released: true });
});

test("E20, E22: one that hangs while its session lives is taken out, learns it by its next write, and writes no more", async () => {
  const { workers } = await registry();
  const hanging = await registered(workers);
  await hanging.setJob("88");
  const other = await registry();
  const made = calls();
  await waitFor(async () => {
    await other.workers.harvest(portsOf(made, { ...PATIENCE, timeoutMs: 0 }));
    return made.shutDown.includes(hanging.entry.Name);
  });
  await hanging.setJob("89");
  expect(hanging.over.aborted).toBe(true);
  await hanging.heartbeat({ Cpu: 1, Mem: 1 });
  expect(await entryOf(other.workers, hanging.entry.Name)).toMatchObject({ Status: "DEAD", Job: "" });
});

test("a heartbeat between the look and the declaration keeps its worker alive", async () => {
  const { workers } = await registry();
  const mine = await registered(workers);
  const other = await registry();
  const made = calls();
  const real = other.session.multi.bind(other.session);
  // The heartbeat comes exactly between what the harvester read and what it writes.
  other.session.multi = async (ops) => {
    if (ops.some(({ path }) => path === workerPaths.worker(mine.entry.Name))) await mine.heartbeat({ Cpu: 2, Mem: 2 });
    return real(ops);
  };
  await waitFor(() => Date.now() > Date.parse(mine.entry.Heartbeat));
  const done = await other.workers.harvest(portsOf(made, { ...PATIENCE, timeoutMs: 0 }));
  expect(done?.declared).not.toContain(mine.entry.Name);
  expect(await entryOf(workers, mine.entry.Name)).toMatchObject({ Status: "ALIVE", Stats: { Cpu: 2, Mem: 2 } });
});

test("jobs that could not be given back are given back by the next harvester, without a second shutdown", async () => {
  const dying = await registry();
  const given = facts();
  await registered(dying.workers, given);
  await dying.session.close();
  const { workers } = await registry();
  const made = calls();
  await workers.harvest({ ...portsOf(made), releaseWorker: () => Promise.resolve(false) });
  expect(await workers.register(given)).toMatchObject({ ok: false, why: "harvested" });
  await (await registry()).workers.harvest(portsOf(made));
  expect(made.released).toContain(given.Name);
  expect(made.shutDown.filter((each) => each === given.Name)).toEqual([given.Name]);
  expect((await workers.register(given)).ok).toBe(true);
});

/** Answers the names of those that were told and not heard, from the second try on heard. */
function deafAtFirst(Name: string) {
  const ids: string[] = [];
  const tell = (entry: WorkerEntry, id: string): Promise<boolean> => {
    if (entry.Name === Name) ids.push(id);
    return Promise.resolve(entry.Name !== Name || ids.length > 1);
  };
  return { ids, hook: { pauseMs: 0, tell } };
}

test("E20: a hook that was not heard is called again, by whoever comes by, also when its worker is back; then no more", async () => {
  const dying = await registry();
  const given = facts();
  await registered(dying.workers, given);
  await dying.session.close();
  const [first, second] = [await registry(), await registry()];
  const { ids, hook } = deafAtFirst(given.Name);
  const failed = await first.workers.harvest({ ...portsOf(calls()), hook });
  expect(failed?.hooks.failed).toEqual([expect.stringContaining(`${given.Name}.`)]);
  const back = await registered(second.workers, { ...given, InstanceId: "next" });
  const told = await second.workers.harvest({ ...portsOf(calls()), hook });
  expect(told?.hooks.told).toEqual(failed?.hooks.failed);
  await first.workers.harvest({ ...portsOf(calls()), hook });
  expect(ids).toEqual([...(told?.hooks.told ?? []), ...(told?.hooks.told ?? [])]);
  expect(back.over.aborted).toBe(false);
});

test("E20: one that dies between the declaration and the call loses no call", async () => {
  const dying = await registry();
  const { Name } = (await registered(dying.workers)).entry;
  await dying.session.close();
  const broken = await registry();
  const dies = { pauseMs: 0, tell: () => Promise.reject(new Error("killed")) };
  await expect(broken.workers.harvest({ ...portsOf(calls()), hook: dies })).rejects.toThrow("killed");
  const made = calls();
  await (await registry()).workers.harvest(portsOf(made));
  expect(made.shutDown.filter((each) => each === Name)).toEqual([Name]);
});

test("E20: a hook that nobody hears is called less and less often, and given up after a time", async () => {
  const dying = await registry();
  const { Name } = (await registered(dying.workers)).entry;
  await dying.session.close();
  const { workers } = await registry();
  let tries = 0;
  const hook = { pauseMs: 3_600_000, tell: () => Promise.resolve((tries += 1) < 0) };
  const harvest = (keepDeadMs = 60_000) => workers.harvest({ ...portsOf(calls(), { ...PATIENCE, keepDeadMs }), hook });
  expect((await harvest())?.hooks.failed).toHaveLength(1);
  expect((await harvest())?.hooks).toEqual({ told: [], failed: [], givenUp: [] });
  expect(tries).toBe(1);
  const givenUp = await waitFor(async () => (await harvest(0))?.hooks.givenUp[0]);
  expect(givenUp).toContain(`${Name}.`);
  expect((await harvest())?.hooks.givenUp).toEqual([]);
});

test("entries of the dead are purged later, not before", async () => {
  const dying = await registry();
  const { Name } = (await registered(dying.workers)).entry;
  await dying.session.close();
  const { workers } = await registry();
  await workers.harvest(portsOf(calls()));
  await workers.harvest(portsOf(calls()));
  expect(await entryOf(workers, Name)).not.toBeNull();
  await waitFor(async () =>
    (await workers.harvest(portsOf(calls(), { ...PATIENCE, keepDeadMs: 0 })))?.purged.includes(Name),
  );
  expect(await entryOf(workers, Name)).toBeNull();
});

test("M26: system ids are unique among the living, renewed by their owner, released, and free again when their session is over", async () => {
  const first = (await registry()).session;
  const second = await connected();
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, at) => reserveSysid(at % 2 === 0 ? first : second, `daemon-${at}`)),
  );
  const ids = many.map((reserved) => (reserved.ok ? reserved.sysid : 0));
  expect(new Set(ids).size).toBe(20);
  expect(ids.every((id) => id >= 1)).toBe(true);
  expect(await renewSysid(first, ids[0]!)).toBe(true);
  expect(await renewSysid(second, ids[0]!)).toBe(false);
  expect(await releaseSysid(second, ids[0]!)).toBe(false);
  expect(await releaseSysid(first, ids[0]!)).toBe(true);
  expect(await reserveSysid(second, "again")).toEqual({ ok: true, sysid: ids[0] });
  await first.close();
  await waitFor(async () => {
    const next = await reserveSysid(second, `next-${Math.random()}`);
    return next.ok && ids.includes(next.sysid);
  });
});
