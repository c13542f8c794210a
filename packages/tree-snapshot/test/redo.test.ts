/** Goal: a tree that is restored from an older snapshot has the job queue as it stood at the disaster, node for node. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import {
  checkQueue,
  isStatus,
  ownShard,
  paths as queuePaths,
  prepareQueue,
  readCommand,
  type Reply,
  type ShardOwner,
} from "@sluice/job-queue";
import { readRedo, RedoWriter } from "@sluice/job-store";
import {
  type FaultProxy,
  later,
  readTransactions,
  startFaultProxy,
  testWorker,
  type TestWorker,
  testZooKeeper,
  type TestZooKeeper,
  tree,
} from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Redo, type RedoFrom, restoreSnapshot, takeSnapshot } from "../src/index.ts";
import { RedoneNodes } from "../src/redone-nodes.ts";

const OLGA = { name: "olga", reason: "the disk was lost" };
let folder: string;
let file: string;
let zookeeper: TestZooKeeper;
let operator: TestWorker;
let proxy: FaultProxy;
let session: Session;
let redo: RedoWriter;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-redo-"));
  file = join(folder, "tree.gz");
  zookeeper = await testZooKeeper();
  operator = await testWorker(zookeeper.connect, "operator", { register: false });
  proxy = await startFaultProxy(zookeeper.connect);
  session = await connectSession({ connect: proxy.connect, timeoutMs: 30_000 });
  expect(await prepareQueue(session)).toMatchObject({ ok: true });
  redo = new RedoWriter({
    folder: join(folder, "redo"),
    ...{ segmentBytes: 20_000, keepMs: 3_600_000, maxBytes: 100_000_000 },
    nowMs: Date.now,
    epoch: () => operator.identity.epoch,
    later,
    onLost: (_transactions, why) => {
      throw new Error(why);
    },
  });
});
afterEach(async () => {
  await Promise.all([operator.close(), session.close()]);
  await proxy.close();
  await rm(folder, { recursive: true });
});

async function own(): Promise<ShardOwner> {
  const owning = await ownShard(0, { session, apiId: "api", later, redo });
  if (!owning.ok) throw new Error(owning.why);
  return owning.owner;
}

async function ask(owner: ShardOwner, verb: string, fields: Readonly<Record<string, string>>): Promise<Reply | null> {
  const command = readCommand(verb, fields, { tenant: "default", caller: { kind: "worker", worker: "w" } });
  if (isStatus(command)) throw new Error(command.text);
  return owner.ask(command);
}

/** Jobs that are made, taken, retried, ended, with data and results of all sizes. */
async function work(owner: ShardOwner, rounds: number, seed: string): Promise<void> {
  for (let n = 0; n < rounds; n++) {
    const data = JSON.stringify({ x: seed.repeat(n % 4 === 0 ? 3_000 : 10), n });
    await ask(owner, "CreateJob", { name: `type-${n % 3}`, data });
    await ask(owner, "CreateJob", { name: `once-${n % 5}`, unique: "true", data });
    const got = await ask(owner, "GetJob", { name: `type-${n % 3}` });
    const [job] = got?.content.kind === "taken" ? got.content.jobs : [];
    if (job === undefined || n % 4 === 3) continue;
    const end = { jobID: String(job.view.jobID), lease: job.token };
    if (n % 4 === 1) await ask(owner, "RetryJob", { ...end, delay: "100" });
    else await ask(owner, "FinishJob", { ...end, result: "y".repeat(n % 2 === 0 ? 2_000 : 5) });
  }
}

/** What a restore makes anew is left out. */
const queueNow = (): Promise<Record<string, unknown>> =>
  tree(operator.session, { under: [queuePaths.shards], except: /^\/fleet\/queue\/s\/\d\d\/(ids|seq|restored)$/ });

const redoOf = async ({ epoch, zxid }: RedoFrom): Promise<Redo> => {
  const { shards, damaged } = await readRedo(join(folder, "redo"), { epoch, zxid });
  expect([damaged, shards.map(({ missing }) => missing)]).toEqual([[], [0]]);
  return { ok: true, shards: shards.map(({ nodes }) => nodes) };
};

test("after takeovers and lost answers, from a snapshot that was taken under load, and without the log as it was then", async () => {
  const first = await own();
  await work(first, 20, "a");
  const [taken] = await Promise.all([
    takeSnapshot(operator.session, file, { nowMs: 0, whileMoving: true, tries: 1 }),
    work(first, 20, "b"),
  ]);
  expect(taken).toMatchObject({ kind: "taken" });
  const second = await own();
  const lost = proxy.onNext("multi", "cutAfterForward");
  await Promise.all([work(second, 20, "c"), lost]);
  await second.resign();
  const third = await own();
  await work(third, 12, "d");
  await third.resign();
  await redo.close();
  const atDisaster = await queueNow();

  const told = await restoreSnapshot(operator.ctx, OLGA, file, { replace: true });
  expect(told).toMatchObject({ kind: "refused", why: expect.stringContaining("holds a job queue") });
  const lacking = await restoreSnapshot(operator.ctx, OLGA, file, { replace: true, redo: "none" });
  expect(lacking).toMatchObject({ kind: "restored", redone: { made: 0, changed: 0, gone: 0 } });
  expect(await queueNow()).not.toEqual(atDisaster);
  const restored = await restoreSnapshot(operator.ctx, OLGA, file, { replace: true, redo: redoOf });
  expect(restored).toMatchObject({ kind: "restored", redone: { made: expect.any(Number), leftOut: 0 } });
  expect(await queueNow()).toEqual(atDisaster);

  // It goes on from there, and nothing is given twice.
  const after = await own();
  await work(after, 8, "e");
  await after.resign();
  const { logDir, root } = zookeeper;
  const faults = checkQueue(readTransactions(logDir, root), root);
  expect(faults.map(({ invariant, detail }) => `${invariant}: ${detail}`)).toEqual([]);
});

test("a log that cannot be read refuses the restore before anything is taken away", async () => {
  const owner = await own();
  await work(owner, 2, "a");
  await owner.resign();
  await takeSnapshot(operator.session, file, { nowMs: 0 });
  const before = await queueNow();
  const why = "it is another fleet's";
  const refused = await restoreSnapshot(operator.ctx, OLGA, file, {
    replace: true,
    redo: () => Promise.resolve({ ok: false, why }),
  });
  expect(refused).toEqual({ kind: "refused", why });
  expect(await queueNow()).toEqual(before);
});

test("directories that the log lacks are made, what cannot stand anywhere is left out, children of what is gone go with it", () => {
  const block = queuePaths.block(0);
  const node = (path: string, data = "x") => ({ path, data: Buffer.from(data) });
  const redone = new RedoneNodes([
    new Map([
      [queuePaths.job(1), Buffer.from("changed")],
      [queuePaths.job(2), null],
      [queuePaths.job(16_001), Buffer.from("made")],
      [queuePaths.data(16_002), Buffer.from("of a job that the log lacks")],
      [queuePaths.ids(0), Buffer.from("the restore's own")],
    ]),
  ]);
  expect(redone.take(node("/jobs"))).toEqual(node("/jobs"));
  expect(redone.take(node(queuePaths.ids(0)))).toEqual(node(queuePaths.ids(0)));
  expect(redone.take(node(queuePaths.jobs(0)))).toEqual(node(queuePaths.jobs(0)));
  expect(redone.take(node(block, ""))).toEqual(node(block, ""));
  expect(redone.take(node(queuePaths.job(1)))).toEqual(node(queuePaths.job(1), "changed"));
  expect(redone.take(node(queuePaths.job(2)))).toBeNull();
  expect(redone.take(node(queuePaths.data(2)))).toBeNull();
  expect([...redone.rest()]).toEqual([node(queuePaths.block(16), ""), node(queuePaths.job(16_001), "made")]);
  expect(redone.counts).toEqual({ made: 1, changed: 1, gone: 1, leftOut: 1 });
});
