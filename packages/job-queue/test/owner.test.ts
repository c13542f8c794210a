/** The owner of a shard on a real ZooKeeper. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  openRawSession,
  sentBy,
  startFaultProxy,
  testZooKeeper,
  tree,
  waitFor,
  type FaultProxy,
  type TestZooKeeper,
  type Verdict,
} from "@sluice/testkit";
import type { ShardOwner } from "../src/owner/owner.ts";
import { paths } from "../src/paths.ts";
import type { CreateJobs, GetJobs } from "../src/shard/commands.ts";
import { MemoryArchive } from "./support/memory-archive.ts";
import { command, idOf, startProcess, takenOf, type Process } from "./support/owners.ts";

let zooKeeper: TestZooKeeper;
let proxy: FaultProxy;
/** Its answers can be lost. */
let process: Process;
let other: Process;
let owner: ShardOwner;
/** What the pipeline found out after lost answers. */
let applied: number;
let again: number;
let archive: MemoryArchive;

beforeEach(async () => {
  zooKeeper = await testZooKeeper();
  proxy = await startFaultProxy(zooKeeper.connect);
  process = await startProcess(proxy.connect, "api-1");
  other = await startProcess(zooKeeper.connect, "api-2");
  [applied, again] = [0, 0];
  archive = new MemoryArchive();
  const hooks = { onResolved: (known: number, rest: number) => ([applied, again] = [applied + known, again + rest]) };
  owner = await process.own({ hooks, archive });
});
afterEach(async () => {
  await Promise.all([process.close(), other.close()]);
  await proxy.close();
});

const shardTree = async (): Promise<Readonly<Record<string, unknown>>> =>
  tree(other.session, { under: [paths.shard(0)] });

test("a process that finds the frame of the queue as it should be writes nothing", () => {
  expect(sentBy(process.session.id, zooKeeper.logDir, zooKeeper.root)).not.toEqual([]);
  expect(sentBy(other.session.id, zooKeeper.logDir, zooKeeper.root)).toEqual([]);
});

describe("an owner", () => {
  test("writes one record per job, and an entry of the archive when it is finished", async () => {
    const id = idOf(await owner.ask(command("CreateJob", { name: "foo", data: '{"value":1}' })));
    const taken = takenOf(await owner.ask(command("GetJob", { name: "foo" })))!;
    expect(taken.view.jobID).toBe(id);
    expect(Object.keys(await shardTree()).filter((path) => path.includes("/j/"))).toEqual([paths.job(1)]);
    const finished = await owner.ask(
      command("FinishJob", { jobID: id, lease: taken.token, exitCode: 200, result: "x".repeat(600) }),
    );
    expect(finished?.status.code).toBe(200);
    const after = Object.keys(await shardTree());
    expect(after.filter((path) => path.includes("/j/"))).toEqual([paths.block(0)]);
    expect(after.filter((path) => path.includes("/done/")).map((path) => path.split("/").slice(7).join("/"))).toEqual([
      `1-${taken.token}`,
      `1-${taken.token}/r`,
    ]);
  });

  test("keeps large data beside the record, and takes it away with it", async () => {
    const large = `{"a":"${"x".repeat(5_000)}"}`;
    const id = idOf(await owner.ask(command("CreateJob", { name: "foo", data: large })));
    const next = await other.own();
    expect(await next.ask(command("QueryJob", { jobID: id }))).toMatchObject({ content: { job: { data: large } } });
    for (const data of [`{"b":"${"y".repeat(5_000)}"}`, "{}", large])
      await next.ask(command("UpdateJob", { jobID: id, data }));
    const nodes = (await shardTree())[paths.data(id)];
    expect(nodes).toEqual(JSON.parse(large));
    await next.ask(command("DeleteJob", { jobID: id }));
    expect(Object.keys(await shardTree()).filter((path) => path.startsWith(paths.job(id)))).toEqual([]);
  });

  test("makes many jobs at once in parts; those of an owner that died in between are swept by the next", async () => {
    const jobs = JSON.stringify(Array.from({ length: 1200 }, () => ({ name: "many", data: { x: "x".repeat(1000) } })));
    // The last part carries the mark.
    let parts = 0;
    proxy.onRequest(({ opcode, bytes }) => {
      if (opcode !== "multi" || !bytes.includes("/j/")) return "pass";
      parts += 1;
      return parts > 2 ? "cutBefore" : "pass";
    });
    const answer = owner.ask(command("CreateJobs", { jobs }));
    await waitFor(() => (parts > 2 ? true : undefined));
    const next = await other.own();
    await proxy.setMode("refuse");
    expect(next.size).toBe(0);
    await waitFor(async () => (Object.keys(await shardTree()).some((path) => path.includes("/j/")) ? undefined : true));
    await proxy.setMode("pass");
    expect(await answer).toBeNull();
    proxy.onRequest(() => "pass");
    expect(await next.ask(command("CreateJobs", { jobs }))).toMatchObject({ status: { code: 200 } });
    expect((await process.own()).size).toBe(1200);
  });

  test("that is deposed hears of it, answers nothing more, and cannot write", async () => {
    const id = idOf(await owner.ask(command("CreateJob", { name: "foo" })));
    const next = await other.own();
    const late = owner.ask(command("CreateJob", { name: "late" }));
    await waitFor(() => (owner.over.aborted ? true : undefined));
    expect(await late).toBeNull();
    expect(await owner.ask(command("QueryJob", { jobID: id }))).toBeNull();
    expect(await next.ask(command("QueryJob", { jobID: id }))).toMatchObject({ status: { code: 200 } });
    expect(next.size).toBe(1);
  });

  test("keeps its workers' leases for the next one", async () => {
    const id = idOf(await owner.ask(command("CreateJob", { name: "foo" })));
    const { token } = takenOf(await owner.ask(command("GetJob", { name: "foo" })))!;
    const next = await other.own();
    expect(await next.ask(command("GetJob", { name: "foo" }))).toMatchObject({ status: { code: 404 } });
    for (let n = 0; n < 2; n++)
      expect(await next.ask(command("FinishJob", { jobID: id, lease: token }))).toMatchObject({
        status: { code: 200 },
      });
    // Known to a third one, too, from the archive.
    const third = await process.own();
    expect(await third.ask(command("FinishJob", { jobID: id, lease: token }))).toMatchObject({ status: { code: 200 } });
  });

  test("gives the shard up when somebody else has written there, and can take it again", async () => {
    const id = idOf(await owner.ask(command("CreateJob", { name: "foo" })));
    const raw = await openRawSession(zooKeeper.connect);
    const node = await other.session.get(paths.job(id));
    if (!node.ok) throw new Error(node.detail);
    await raw.multi([{ op: "set", path: paths.job(id), data: node.value.data, version: 0 }]);
    await raw.close();
    expect(await owner.ask(command("GetJob", { name: "foo" }))).toBeNull();
    expect(String(owner.over.reason)).toMatch(/refused: BAD_VERSION/);
    expect(takenOf(await (await process.own()).ask(command("GetJob", { name: "foo" })))?.view.jobID).toBe(id);
  });

  test("hands what has ended to who keeps it, and lets go of it", async () => {
    const ids: number[] = [];
    for (let n = 0; n < 60; n++) ids.push(idOf(await owner.ask(command("CreateJob", { name: "foo" }))));
    for (let n = 0; n < 60; n++) {
      const { view, token } = takenOf(await owner.ask(command("GetJob", { name: "foo" })))!;
      const result = n === 0 ? "r".repeat(1000) : "short";
      await owner.ask(command("FinishJob", { jobID: view.jobID, lease: token, exitCode: 200, result }));
    }
    expect(await owner.emptyArchive(3_600_000)).toBe(0);
    expect(await owner.emptyArchive(-2 * 3_600_000)).toBe(60);
    const { kept } = archive;
    expect(kept.map(({ id }) => id).sort((a, b) => a - b)).toEqual(ids);
    expect(kept.find(({ id }) => id === ids[0])?.done).toMatchObject({
      name: "foo",
      exit: 200,
      result: "r".repeat(1000),
      worker: "w",
    });
    expect(Object.keys(await shardTree()).filter((path) => path.includes("/done/"))).toEqual([]);
    // A new directory is made for what ends now.
    await owner.ask(command("CreateJob", { name: "foo" }));
    const { view, token } = takenOf(await owner.ask(command("GetJob", { name: "foo" })))!;
    expect(await owner.ask(command("FinishJob", { jobID: view.jobID, lease: token }))).toMatchObject({
      status: { code: 200 },
    });
  });

  test("Q-17: writes nothing for jobs that wait, for leases that are renewed, and for those who find nothing", async () => {
    const waiting = Array.from({ length: 20 }, () =>
      owner.ask(command("CreateJob", { name: "foo", firstRun: "2999-01-01" })),
    );
    await Promise.all(waiting);
    const id = idOf(await owner.ask(command("CreateJob", { name: "bar" })));
    const { token } = takenOf(await owner.ask(command("GetJob", { name: "bar" })))!;
    const before = proxy.counts.get("multi");
    for (let n = 0; n < 20; n++) {
      await owner.ask({ verb: "RenewLeases", tenant: "default", leases: [{ id, token }] });
      await owner.ask(command("GetJob", { name: "*" }));
      await owner.ask({ verb: "Tick" });
    }
    expect(proxy.counts.get("multi")).toBe(before);
  });

  test("leaves its shard when it resigns, with everything written", async () => {
    const asked = Array.from({ length: 20 }, () => owner.ask(command("CreateJob", { name: "foo" })));
    await owner.resign();
    expect((await Promise.all(asked)).map((reply) => reply?.status.code)).toEqual(asked.map(() => 200));
    expect(Object.keys(await tree(other.session, { under: [paths.terms] }))).toEqual([paths.terms]);
    expect((await other.own()).size).toBe(20);
  });
});

describe("a caller that waits", () => {
  const get = command("GetJob", { name: "foo" }) as GetJobs;

  test("is given the job that comes, the first one first", async () => {
    const waiting = [owner.wait(get, 60_000), owner.wait(get, 60_000)];
    const ids = [];
    for (const reply of waiting) {
      ids.push(idOf(await owner.ask(command("CreateJob", { name: "foo" }))));
      expect(takenOf(await reply)?.view.jobID).toBe(ids.at(-1));
    }
  });

  test("is not forgotten when somebody else took the better of two jobs that came at once", async () => {
    const waiting = [owner.wait(get, 60_000), owner.wait(get, 60_000)];
    // Their first looks are answered, and both stand in line.
    await new Promise(setImmediate);
    const jobs = JSON.stringify([
      { name: "foo", priority: 0 },
      { name: "foo", priority: 1000 },
    ]);
    await owner.ask(command("CreateJobs", { jobs }));
    const priorities = (await Promise.all(waiting)).map((reply) => takenOf(reply)?.view.priority);
    expect(priorities.sort()).toEqual([0, 1000]);
  });

  test("is given a job that becomes due, without any command", async () => {
    const firstRun = new Date(Date.now() + 300).toISOString().slice(0, 23).replace("T", " ");
    const id = idOf(await owner.ask(command("CreateJob", { name: "foo", firstRun })));
    expect(takenOf(await owner.wait(get, 60_000))?.view.jobID).toBe(id);
  });

  test("is told when its time is over, when it gives up, and when the owner is deposed", async () => {
    expect(await owner.wait(get, 50)).toMatchObject({ status: { code: 404, text: "No job found" } });
    const gone = new AbortController();
    const waiting = [owner.wait(get, 60_000, gone.signal), owner.wait(get, 60_000)];
    gone.abort();
    expect(await waiting[0]).toMatchObject({ status: { code: 404 } });
    await other.own();
    expect(await waiting[1]).toBeNull();
  });
});

describe("an answer that is lost", () => {
  test("an owner hears that it was deposed, also when nobody answered its first look at its term", async () => {
    await owner.resign();
    const looked = proxy.onNext("exists", "cutBefore");
    owner = await process.own();
    await looked;
    // From here on it writes nothing by which it could find out.
    expect((await owner.ask(command("CreateJob", { name: "foo" })))?.status.code).toBe(200);
    await other.own();
    await waitFor(() => owner.over.aborted, { what: "the end of the term" });
  });

  test.each<Verdict>(["cutBefore", "cutAfterForward", "cutInReply", "dropReply"])(
    "%s: every command is carried out once, and answered",
    async (verdict) => {
      const cycles = 40;
      const create = Array.from({ length: cycles }, () => owner.ask(command("CreateJob", { name: "foo" })));
      await Promise.all(create);
      let multis = 0;
      proxy.onRequest(({ opcode, bytes }) => {
        if (opcode !== "multi" || !bytes.includes("/j/")) return "pass";
        multis += 1;
        // A dropped answer is missed only at its deadline.
        return multis === 2 || (multis === 7 && verdict !== "dropReply") ? verdict : "pass";
      });
      const finish = async (): Promise<number> => {
        const taken = takenOf(await owner.ask(command("GetJob", { name: "foo" })))!;
        const reply = await owner.ask(command("FinishJob", { jobID: taken.view.jobID, lease: taken.token }));
        expect(reply?.status.code).toBe(200);
        return taken.view.jobID;
      };
      const finished: number[] = [];
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let n = 0; n < cycles / 8; n++) finished.push(await finish());
        }),
      );
      expect(new Set(finished).size).toBe(cycles);
      expect(applied + again).toBeGreaterThan(0);
      expect(owner.over.aborted).toBe(false);
      expect(Object.keys(await shardTree()).filter((path) => /\/done\/\d+\/\d+-/.test(path))).toHaveLength(cycles);
    },
  );
});

describe("a command that cannot be decided", () => {
  /** As a mistake of ours would be: a property that cannot be read. */
  const breaking = <T extends object>(given: T, property: string): T =>
    Object.defineProperty({ ...given }, property, {
      get: (): never => {
        throw new RangeError("Maximum call stack size exceeded");
      },
    });

  test("leaves nothing for the next one to write, and the shard to a new term", async () => {
    const mistakes: string[] = [];
    owner = await process.own({ onMistake: (error, verb) => mistakes.push(`${verb}: ${String(error)}`) });
    const kept = idOf(await owner.ask(command("CreateJob", { name: "kept" })));
    const { token } = takenOf(await owner.ask(command("GetJob", { name: "kept" })))!;
    // Its run has ended in memory when it is asked what follows.
    const half = breaking(command("FinishJob", { jobID: kept, lease: token }), "onFinish");
    expect((await owner.ask(half))?.status.code).toBe(500);
    expect(String(owner.over.reason)).toContain("FinishJob could not be decided");
    expect(mistakes).toEqual(["FinishJob: RangeError: Maximum call stack size exceeded"]);
    const next = await other.own();
    const listed = await next.ask({ verb: "ListJobs", tenant: "default" });
    expect(listed?.content).toMatchObject({ jobs: [{ jobID: kept, state: "RUNNING" }] });
  });

  test("costs nobody anything when it had changed nothing", async () => {
    const create = command("CreateJob", { name: "next" }) as CreateJobs;
    const bad = { ...create, jobs: [create.jobs[0]!, breaking(create.jobs[0]!, "onFinish")] };
    expect((await owner.ask(bad))?.status.code).toBe(500);
    expect(owner.over.aborted).toBe(false);
    expect(owner.size).toBe(0);
    expect((await owner.ask(create))?.status.code).toBe(200);
  });
});
