/** Adds through journals, taken in by a real owner on a real ZooKeeper that may be away, or lose its answers. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BlobRef,
  checkQueue,
  type Command,
  isStatus,
  type JobRecord,
  ownShard,
  prepareQueue,
  readCommand,
  type Reply,
  type ShardOwner,
} from "@sluice/job-queue";
import { later, readTransactions, testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import {
  ADD_STATUS,
  journaledAdds,
  type JournaledAdds,
  type JobJournals,
  openJobJournals,
  type Outcome,
  type TenantQueue,
} from "../src/index.ts";

const ASKER = { tenant: "default", caller: { kind: "worker", worker: "w" } } as const;
const WORK = { tenant: "default", name: "work" };

/** A store of blobs in memory: what it holds was put there. */
class MemoryBlobs {
  readonly held = new Map<string, Buffer>();
  /** What the disk says to the next write. */
  problem: Error | null = null;
  put(bytes: Buffer): Promise<BlobRef> {
    if (this.problem !== null) return Promise.reject(this.problem);
    const sha256 = String(this.held.size).padStart(64, "0");
    this.held.set(sha256, bytes);
    return Promise.resolve({ sha256, bytes: bytes.length });
  }
  get({ sha256 }: BlobRef): Promise<Buffer | null> {
    return Promise.resolve(this.held.get(sha256) ?? null);
  }
}

let zooKeeper: TestZooKeeper;
let session: Session;
let owner: ShardOwner;
let folder: string;
let blobs: MemoryBlobs;
let journals: JobJournals;
let adds: JournaledAdds;
/** up: it answers; away: surely not done; mute: done, and nobody knows; deaf: not done, and nobody knows. */
let mode: "up" | "away" | "mute" | "deaf";
let waited: string[];
let refused: string[];
let asked: string[];

const queue = {
  route: (_tenant: string, command: Command) => queue.routeShard(0, command),
  async routeShard(_shard: number, command: Command): Promise<Outcome> {
    asked.push(command.verb);
    if (mode === "away") return { kind: "unavailable", why: "nobody owns it" };
    const reply = mode === "deaf" ? null : await owner.ask(command);
    return reply === null || mode === "mute" ? { kind: "unknown" } : { kind: "reply", reply };
  },
  shardOf: (): number | null => (mode === "away" ? null : 0),
};

/** As the journals see it. */
let queueOf: TenantQueue;
let maxBytes: number;

async function begin(): Promise<void> {
  const opened = await openJobJournals({
    folder,
    maxBytes,
    segmentBytes: 10_000,
    clock: { nowMs: () => session.serverNowMs() },
    log: { badLine: () => undefined, badRecord: () => undefined, opened: () => undefined },
    queue: queueOf,
    blobs,
    later: (_ms, wake) => later(1, wake),
    hooks: {
      onWaiting: (_shard, why) => waited.push(why),
      onFailure: (_shard, error) => waited.push(String(error)),
      onRefused: (_shard, line, why) => refused.push(`${line.payload.toString()}: ${why}`),
    },
  });
  if (!opened.ok) throw new Error(opened.problem);
  journals = opened.journals;
  adds = journaledAdds(queueOf, journals, blobs);
}

/** As after the end of the process. */
async function restart(): Promise<void> {
  await journals.close();
  await begin();
}

beforeEach(async () => {
  [mode, waited, refused, asked, blobs, queueOf] = ["up", [], [], [], new MemoryBlobs(), queue];
  maxBytes = 10_000_000;
  zooKeeper = await testZooKeeper();
  session = await connectSession({ connect: zooKeeper.connect, timeoutMs: 30_000 });
  const prepared = await prepareQueue(session);
  if (!prepared.ok) throw new Error(prepared.problem);
  const owning = await ownShard(0, { session, apiId: "api-1", later });
  if (!owning.ok) throw new Error(owning.why);
  owner = owning.owner;
  folder = await mkdtemp(join(tmpdir(), "sluice-adds-"));
  await begin();
});
afterEach(async () => {
  mode = "up";
  await journals.close();
  await owner.resign();
  await session.close();
  expect(checkQueue(readTransactions(zooKeeper.logDir, zooKeeper.root), zooKeeper.root)).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});

function command(verb: string, params: Readonly<Record<string, string>>): Command {
  const read = readCommand(verb, params, ASKER);
  if (isStatus(read)) throw new Error(read.text);
  return read;
}

const idsOf = (reply: Reply | null): readonly number[] => {
  if (reply?.content.kind !== "ids") throw new Error(`no ids: ${reply?.status.text ?? "unknown"}`);
  return reply.content.ids;
};

const taken = (): Promise<unknown> =>
  waitFor(() => [...journals.stats().values()].every(({ lines }) => lines === 0), { what: "the lines to be taken in" });

async function record(id: number): Promise<JobRecord> {
  const reply = await owner.ask({ verb: "DescribeJob", tenant: "default", id });
  if (reply?.content.kind !== "record") throw new Error(`no job ${id}`);
  return reply.content.record;
}

async function jobs(): Promise<readonly string[]> {
  const reply = await owner.ask({ verb: "ListJobs", tenant: "default" });
  return reply?.content.kind === "list" ? reply.content.jobs.map(({ jobID, data }) => `${jobID} ${data}`) : [];
}

describe("lines that are added", () => {
  test("are answered with their ids and become jobs of their tenant and type, in order", async () => {
    const ids = idsOf(await adds.addLines(WORK, ["one\n", "two | three"]));
    await taken();
    expect(await jobs()).toEqual([`${ids[0]} {"payload":"one"}`, `${ids[1]} {"payload":"two | three"}`]);
    expect(await record(ids[0]!)).toMatchObject({ tenant: "default", name: "work", state: "QUEUED", priority: 500 });
  });

  test("never reach the owner by another way, so that an answer that is lost makes no job twice", async () => {
    await adds.addLines(WORK, ["one"]);
    await taken();
    expect(new Set(asked)).toEqual(new Set(["ReserveIds", "IngestAdds"]));
  });

  test("may be any bytes, and large", async () => {
    const [odd, large] = [Buffer.from([0, 255, 10]), "x".repeat(100_000)];
    const ids = [...idsOf(await adds.addLines(WORK, [odd])), ...idsOf(await adds.addLines(WORK, [large]))];
    await taken();
    expect(JSON.parse((await record(ids[0]!)).data)).toEqual({ payload: odd.toString("base64"), encoding: "base64" });
    const { dataRef } = await record(ids[1]!);
    expect(JSON.parse(blobs.held.get(dataRef!.sha256)!.toString())).toEqual({ payload: large });
  });

  test("wait where they are while the store of large data is full, and the process goes on", async () => {
    blobs.problem = new Error("ENOSPC");
    const large = "x".repeat(100_000);
    const ids = idsOf(await adds.addLines(WORK, ["small", large, "behind"]));
    await waitFor(() => waited.filter((why) => why.includes("ENOSPC")).length > 1, { what: "two tries" });
    blobs.problem = null;
    await taken();
    expect((await jobs()).map((job) => job.split(" ")[0])).toEqual(ids.map(String));
  });

  test("M22: leave their results to the type that was named with them, whatever they hold", async () => {
    const [odd, large] = [Buffer.from([0, 255, 10]), "x".repeat(100_000)];
    const ids = idsOf(await adds.addLines(WORK, ["one\n", odd, large], "after"));
    await taken();
    for (const id of ids)
      expect(await record(id)).toMatchObject({ name: "work", onFinish: "after", tenant: "default" });
    expect(JSON.parse((await record(ids[0]!)).data)).toEqual({ payload: "one" });
    expect(JSON.parse((await record(ids[1]!)).data)).toEqual({ payload: odd.toString("base64"), encoding: "base64" });
    const { dataRef } = await record(ids[2]!);
    expect(JSON.parse(blobs.held.get(dataRef!.sha256)!.toString())).toEqual({ payload: large });
  });

  test("a type with a comma is refused", async () => {
    expect((await adds.addLines({ tenant: "default", name: "a,b" }, ["x"])).status.code).toBe(402);
  });

  test("more than were reserved are numbered as long as an owner reserves more, from many callers at once", async () => {
    const many = Array.from({ length: 1_200 }, (_, n) => `${n}`);
    const replies = await Promise.all([0, 1, 2].map(() => adds.addLines(WORK, many)));
    expect(new Set(replies.flatMap(idsOf)).size).toBe(3_600);
  });

  test("more than a transaction takes come in as they are", async () => {
    const payloads = Array.from({ length: 120 }, (_, n) => `${n} ${"x".repeat(3_000)}`);
    const ids = idsOf(await adds.addLines(WORK, payloads));
    await taken();
    const all = await jobs();
    expect([all.length, all.at(-1)?.startsWith(`${ids.at(-1)} {"payload":"119 `)]).toEqual([120, true]);
  });
});

describe("M4: while nobody owns the shard", () => {
  test("adds are accepted, after a restart too, and wait for an owner", async () => {
    await adds.addLines(WORK, ["before"]);
    await taken();
    mode = "away";
    const first = idsOf(await adds.addLines(WORK, ["one", "two"]));
    await restart();
    const second = idsOf(await adds.addLines(WORK, ["three"]));
    await waitFor(() => waited.includes("nobody owns it"), { what: "a try that failed" });
    expect(await jobs()).toHaveLength(1);
    mode = "up";
    await taken();
    const expected = [...first, ...second].map((id, n) => `${id} {"payload":"${["one", "two", "three"][n]}"}`);
    expect((await jobs()).slice(1)).toEqual(expected);
  });

  test("what an owner would refuse to its caller is not taken in the back way; with the right to it, it is", async () => {
    const system = { tenant: "system", caller: ASKER.caller };
    const read = readCommand("CreateJob", { name: "fleet/deposit/a", data: '{"sealed":{"by":"her"}}' }, system);
    if (isStatus(read) || read.verb !== "CreateJobs") throw new Error("not a CreateJob");
    const allowed = { ...read, jobs: read.jobs.map((job) => ({ ...job, seals: true as const })) };
    mode = "away";
    expect(await adds.route("system", read)).toEqual({ kind: "unavailable", why: "nobody owns it" });
    // The journal is asked for this one, and has no ids for the tenant yet.
    expect(await adds.route("system", allowed)).toMatchObject({
      kind: "reply",
      reply: { status: ADD_STATUS.notServed },
    });
  });

  test("a tenant that was never served, and of whom nobody can say where its jobs stand, is told to come again", async () => {
    mode = "away";
    expect(await adds.addLines(WORK, ["one"])).toEqual({ status: ADD_STATUS.notServed, content: { kind: "none" } });
  });
});

describe("M27: a shard that cannot be reached", () => {
  test("holds up its own lines only", async () => {
    const away = { tenant: "far", name: "work" };
    const where = (shard: number): Outcome | null =>
      shard === 3 ? { kind: "unavailable", why: "its ensemble is away" } : null;
    const partly = {
      ...queue,
      shardOf: (tenant: string) => (tenant === "far" ? 3 : 0),
      routeShard: async (shard: number, asking: Command) => where(shard) ?? queue.routeShard(shard, asking),
    };
    await journals.close();
    queueOf = partly;
    await begin();
    // As from the time when it could be reached.
    await journals.begin(3);
    await journals.of(3)?.addIds(3001, 4000);
    expect(idsOf(await adds.addLines(away, ["far"]))).toEqual([3001]);
    await adds.addLines(WORK, ["near"]);
    await waitFor(async () => (await jobs()).length === 1, { what: "the job of the other shard" });
    expect(journals.stats().get(3)?.lines).toBe(1);
  });
});

describe("M7: taken in again", () => {
  test("after an answer that was lost, jobs are there once", async () => {
    await adds.addLines(WORK, ["before"]);
    await taken();
    mode = "mute";
    await adds.addLines(WORK, ["one"]);
    await waitFor(() => waited.length > 2, { what: "tries whose answers were lost" });
    mode = "up";
    await taken();
    expect(await jobs()).toHaveLength(2);
  });

  test("jobs that were done meanwhile do not come back", async () => {
    await adds.addLines(WORK, ["before"]);
    await taken();
    mode = "mute";
    const [id] = idsOf(await adds.addLines(WORK, ["one"]));
    await waitFor(async () => (await jobs()).length === 2, { what: "the job" });
    for (let n = 0; n < 2; n++) {
      const got = await owner.ask(command("GetJob", { name: "work" }));
      if (got?.content.kind !== "taken") throw new Error("no job");
      const { view, token } = got.content.jobs[0]!;
      await owner.ask(command("FinishJob", { jobID: String(view.jobID), lease: token }));
    }
    expect(await jobs()).toEqual([]);
    mode = "up";
    await restart();
    await taken();
    expect([await jobs(), (await record(id!)).state]).toEqual([[], "FINISHED"]);
  });

  test("of several groups under way the second waits for the first, whichever is lost", async () => {
    await adds.addLines(WORK, ["before"]);
    await taken();
    mode = "away";
    const ids = idsOf(
      await adds.addLines(
        WORK,
        Array.from({ length: 1_200 }, (_, n) => `${n}`),
      ),
    );
    const lost = [0, 2];
    let groups = 0;
    const losing: TenantQueue = {
      ...queue,
      routeShard: (shard, command) => {
        if (command.verb === "IngestAdds" && lost.includes(groups++)) return Promise.resolve({ kind: "unknown" });
        return queue.routeShard(shard, command);
      },
    };
    await journals.close();
    [mode, queueOf] = ["up", losing];
    await begin();
    await taken();
    expect(groups).toBeGreaterThan(5);
    const there = await owner.ask({ verb: "ListJobs", tenant: "default", limit: 1_000 });
    const more = await owner.ask({ verb: "ListJobs", tenant: "default", limit: 1_000, after: ids[998]! });
    const found = [there, more].flatMap((reply) => (reply?.content.kind === "list" ? reply.content.jobs : []));
    expect(found.map(({ jobID }) => jobID).slice(1)).toEqual(ids);
    expect(refused).toEqual([]);
  });

  test("a line that no owner will ever take is told and skipped, and those around it are taken", async () => {
    const deep = { tenant: "default", name: "n".repeat(300) };
    await adds.addLines(WORK, ["one"]);
    await adds.addLines(deep, ["never"]);
    await adds.addLines(WORK, ["two"]);
    await taken();
    expect((await jobs()).map((job) => job.slice(job.indexOf(" ") + 1))).toEqual([
      '{"payload":"one"}',
      '{"payload":"two"}',
    ]);
    expect(refused).toEqual(["never: Malformed name"]);
  });
});

describe("a journal at its bound", () => {
  test("says when to come again, at every door, and has used no id up", async () => {
    await adds.addLines(WORK, ["before"]);
    await taken();
    await journals.close();
    maxBytes = 1_000;
    await begin();
    const full = { status: { ...ADD_STATUS.full, retryAfterMs: 5_000 }, content: { kind: "none" } };
    const left = journals.stats().get(0)?.idsLeft;
    expect(await adds.addLines(WORK, ["x".repeat(1_000)])).toEqual(full);
    mode = "away";
    const large = command("CreateJob", { name: "work", data: JSON.stringify({ text: "x".repeat(1_000) }) });
    expect(await adds.ask("default", large)).toEqual(full);
    expect(journals.stats().get(0)).toMatchObject({ lines: 0, idsLeft: left });
  });
});

describe("CreateJob", () => {
  const create = (params: Readonly<Record<string, string>> = {}): Command =>
    command("CreateJob", { name: "a, b|c/?x=ü", data: '{"n": 1}', ...params });

  /** As a process that has served the tenant before. */
  const served = async (): Promise<void> => {
    expect((await adds.ask("default", create()))?.status.code).toBe(200);
    await waitFor(() => (journals.stats().get(0)?.idsLeft ?? 0) > 0, { what: "ids of our own" });
  };

  test("goes to the owner, whose own ids come first", async () => {
    expect(idsOf(await adds.ask("default", create()))).toEqual([1]);
    expect(asked[0]).toBe("CreateJobs");
  });

  test("that surely reached nobody is accepted in the journal, whole", async () => {
    await served();
    mode = "away";
    const firstRun = "2030-01-01 00:00:00";
    const reply = await adds.ask("default", create({ priority: "1000", firstRun, repeat: "finished, +1 hour" }));
    expect(reply?.content).toMatchObject({ kind: "ids", single: true });
    mode = "up";
    await taken();
    expect(await record(idsOf(reply)[0]!)).toMatchObject({
      name: "a, b|c/?x=ü",
      data: '{"n": 1}',
      priority: 1000,
      nextRun: Date.parse("2030-01-01T00:00:00Z"),
      repeat: "finished, +1 hour",
    });
  });

  test("whose outcome is not known stays so, and is not made a second time", async () => {
    await served();
    for (const unknown of ["deaf", "mute"] as const) {
      mode = unknown;
      expect(await adds.ask("default", create())).toBeNull();
    }
    mode = "up";
    expect([journals.stats().get(0)?.lines, (await jobs()).length]).toEqual([0, 2]);
  });

  test.each([{ unique: "true" }, { parentJobID: "1" }])("with %j needs the owner", async (params) => {
    await served();
    mode = "away";
    expect((await adds.ask("default", create(params)))?.status).toEqual(ADD_STATUS.notServed);
    expect(journals.stats().get(0)?.lines).toBe(0);
  });

  test("whose data was put into the store of blobs takes it along", async () => {
    await served();
    const plain = create();
    if (plain.verb !== "CreateJobs") throw new Error(plain.verb);
    const text = JSON.stringify({ large: "x".repeat(70_000) });
    const ref = await blobs.put(Buffer.from(text));
    const large = { ...plain, jobs: plain.jobs.map((job) => ({ ...job, data: { ...job.data, text: "", ref } })) };
    mode = "away";
    const [id] = idsOf(await adds.ask("default", large));
    // A sweep that knows nothing of journals.
    blobs.held.delete(ref.sha256);
    mode = "up";
    await taken();
    expect(blobs.held.get((await record(id!)).dataRef!.sha256)?.toString()).toBe(text);
  });
});
