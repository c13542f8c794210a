/** What a restore makes of a snapshot: a new epoch of the same fleet, numbers that nobody has used, nothing in hand. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { paths as queuePaths, prepareQueue, records as queueRecords } from "@sluice/job-queue";
import { paths, type QueueContext, readIdentity, records } from "@sluice/queue-core";
import { aBatchOfJobs, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import { connectSession, makeCommitter, type Session } from "@sluice/zookeeper";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GAP, restoreSnapshot, type RestoreResult, takeSnapshot } from "../src/index.ts";
import { NO_COUNTERS, restoredNode } from "../src/restored-nodes.ts";

const OLGA = { name: "olga", reason: "the disk was lost" };
let folder: string;
let file: string;
let connect: string;
let operator: TestWorker;
const sessions: Session[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-restore-"));
  file = join(folder, "tree.gz");
  ({ connect } = await testZooKeeper());
  operator = await testWorker(connect, "operator", { register: false });
});
afterEach(async () => {
  await Promise.all([operator, ...sessions.splice(0)].map((each) => each.close()));
  await rm(folder, { recursive: true });
});

async function emptyTree(): Promise<QueueContext> {
  const session = await connectSession({ connect: (await testZooKeeper()).connect, timeoutMs: 10_000 });
  sessions.push(session);
  return { ...operator.ctx, session, committer: makeCommitter(session) };
}
const take = () => takeSnapshot(operator.session, file, { nowMs: 0 });
const data = async (session: Session, path: string): Promise<Buffer> => {
  const node = await session.get(path);
  if (!node.ok) throw new Error(`${path}: ${node.code}`);
  return node.value.data;
};
function identityOf(result: RestoreResult) {
  if (result.kind !== "restored") throw new Error(JSON.stringify(result));
  return result.identity;
}
async function versionOf(session: Session, path: string): Promise<number> {
  const node = await session.get(path);
  return node.ok ? node.value.stat.version : -1;
}
async function setRaw(session: Session, path: string, bytes: Buffer): Promise<void> {
  const made = await session.multi([{ op: "set", path, data: bytes, version: await versionOf(session, path) }]);
  expect(made.ok).toBe(true);
}

test("a node that is nearly as large as a request comes back, after as many small ones as fit into one", async () => {
  const large = Buffer.alloc(480_000, "x");
  await operator.session.multi([{ op: "create", path: "/aaa", data: Buffer.alloc(100_000, "a") }]);
  await operator.session.multi([{ op: "create", path: "/zzz", data: large }]);
  expect(await take()).toMatchObject({ kind: "taken" });
  const ctx = await emptyTree();
  expect(await restoreSnapshot(ctx, OLGA, file)).toMatchObject({ kind: "restored" });
  expect((await data(ctx.session, "/zzz")).equals(large)).toBe(true);
});

describe("numbers", () => {
  test("go on behind a gap, from where the snapshot or the replaced tree had come, whichever is further", async () => {
    expect(await prepareQueue(operator.session)).toMatchObject({ ok: true });
    await setRaw(operator.session, paths.fleetIds, records.fleetIds.encode({ batch: 7, job: 30 }));
    await take();
    await setRaw(operator.session, paths.fleetIds, records.fleetIds.encode({ batch: 5, job: 900 }));
    await setRaw(operator.session, queuePaths.ids(3), queueRecords.ids.encode({ next: 163, term: 9 }));
    expect(await restoreSnapshot(operator.ctx, OLGA, file, { replace: true, redo: "none" })).toMatchObject({
      kind: "restored",
    });
    const ids = records.fleetIds.decode(await data(operator.session, paths.fleetIds));
    expect(ids).toEqual({ ok: true, value: { batch: 7 + GAP.batch, job: 900 + GAP.job } });
    const shard = queueRecords.ids.decode(await data(operator.session, queuePaths.ids(3)));
    expect(shard).toMatchObject({ ok: true, value: { next: 163 + 16 * GAP.blocks, term: 9 + GAP.term } });
  });
});

describe("the epoch", () => {
  test("is later than the snapshot's and the replaced tree's, and each restore of one snapshot makes another", async () => {
    await take();
    const first = identityOf(await restoreSnapshot(operator.ctx, OLGA, file, { replace: true }));
    const second = identityOf(await restoreSnapshot(operator.ctx, OLGA, file, { replace: true }));
    expect(second.fleet).toBe(first.fleet);
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(second.history).not.toBe(first.history);
    expect(await readIdentity(operator.ctx)).toEqual({ ok: true, identity: second });
  });

  test("is not forgotten by a restore that was broken off after it had taken the tree away", async () => {
    await take();
    const far = { fleet: identityOfTree(await readIdentity(operator.ctx)), epoch: 9_000_000_000 };
    await setRaw(operator.session, paths.fleetEpoch, records.fleetEpoch.encode(far));
    const marker = { replaced: { identity: far, ids: { batch: 50, job: 60 }, shards: {} } };
    const broken = await operator.session.multi([
      { op: "create", path: paths.restoring, data: Buffer.from(JSON.stringify(marker)) },
      { op: "delete", path: paths.fleetEpoch, version: await versionOf(operator.session, paths.fleetEpoch) },
      { op: "delete", path: paths.fleetId, version: await versionOf(operator.session, paths.fleetId) },
    ]);
    expect(broken.ok).toBe(true);
    const identity = identityOf(await restoreSnapshot(operator.ctx, OLGA, file, { replace: true }));
    expect(identity.epoch).toBe(9_000_000_001);
    const ids = records.fleetIds.decode(await data(operator.session, paths.fleetIds));
    expect(ids).toMatchObject({ ok: true, value: { batch: 50 + GAP.batch, job: 60 + GAP.job } });
  });
});

const identityOfTree = (read: Awaited<ReturnType<typeof readIdentity>>): string =>
  read.ok ? read.identity.fleet : "none";

describe("a restore refuses", () => {
  test("to put one fleet's snapshot over another fleet's tree, unless told so", async () => {
    await take();
    const other = await testWorker((await testZooKeeper()).connect, "operator", { register: false });
    sessions.push(other.session);
    const refused = await restoreSnapshot(other.ctx, OLGA, file, { replace: true });
    expect(refused).toMatchObject({ kind: "refused", why: expect.stringContaining("belongs to fleet") });
    expect(await readIdentity(other.ctx)).toMatchObject({ ok: true, identity: { history: other.identity.history } });
    const told = await restoreSnapshot(other.ctx, OLGA, file, { replace: true, anotherFleet: true });
    expect(identityOf(told).fleet).toBe(identityOfTree(await readIdentity(operator.ctx)));
  });

  test("while a job-api serves the queue or owns a shard, and names it", async () => {
    await take();
    expect(await prepareQueue(operator.session)).toMatchObject({ ok: true });
    const term = queuePaths.term(4, 17);
    await operator.session.multi([{ op: "create", path: term, data: Buffer.from("api-1"), ephemeral: true }]);
    const replace = { replace: true };
    expect(await restoreSnapshot(operator.ctx, OLGA, file, replace)).toEqual({
      kind: "refused",
      why: "job-api is at work: shard 04.17",
    });
    const api = queuePaths.api("api-1");
    await operator.session.multi([{ op: "create", path: api, data: Buffer.alloc(0), ephemeral: true }]);
    expect(await restoreSnapshot(operator.ctx, OLGA, file, replace)).toEqual({
      kind: "refused",
      why: "job-api is at work: api-1",
    });
  });

  test("while an admin is there, and names all that are to be stopped", async () => {
    await take();
    const { ctx } = operator;
    for (const path of [paths.stageWorkers("admin"), paths.stageWorkers("job-runner")])
      await ctx.session.multi([{ op: "create", path, data: Buffer.alloc(0) }]);
    for (const path of [paths.worker("admin", "admin-1"), paths.worker("job-runner", "r-1")])
      await ctx.session.multi([{ op: "create", path, data: Buffer.alloc(0), ephemeral: true }]);
    expect(await restoreSnapshot(ctx, OLGA, file, { replace: true })).toEqual({
      kind: "refused",
      why: "admin is at work: admin-1; job-runner is at work: r-1",
    });
  });
});

describe("what was in hand", () => {
  const path = `${paths.fleetJobs}/jid0000000001`;
  const encode = (more: object) => records.fleetJob.encode({ attempts: 3, files: 4, events: [], ...more });
  const restored = (node: { path: string; data: Buffer }) => restoredNode(node, NO_COUNTERS);

  test("is in nobody's hand: the attempt of a claim under way does not count, and its token is forgotten", () => {
    const claimed = encode({ token: 9, claimed: [1, "worker-1"] });
    expect(restored({ path, data: claimed })).toEqual({ kind: "write", node: { path, data: encode({ attempts: 2 }) } });
  });

  test("attempts that ended are counted on", () => {
    expect(restored({ path, data: encode({ token: 9 }) })).toEqual({ kind: "write", node: { path, data: encode({}) } });
  });

  test("a record that this version cannot read is written as it is", () => {
    const node = { path, data: Buffer.from("{") };
    expect(restored(node)).toEqual({ kind: "write", node });
  });

  test("orders to a process that is gone are gone, other orders stay", () => {
    const hold = Buffer.from("{}");
    expect(restored({ path: paths.drain("worker-1"), data: hold })).toEqual({ kind: "leave" });
    const kept = { path: paths.collectionHold("p"), data: hold };
    expect(restored(kept)).toEqual({ kind: "write", node: kept });
  });

  test("counters that cannot be read stop the restore: numbers could be used twice", () => {
    expect(restored({ path: paths.fleetIds, data: Buffer.from("x") })).toMatchObject({ kind: "unreadable" });
    expect(restored({ path: queuePaths.ids(0), data: Buffer.from("x") })).toMatchObject({ kind: "unreadable" });
  });
});

test("a batch that is made after a restore has a number that no batch ever had", async () => {
  const intake = await testWorker(connect, "batch-intake");
  await aBatchOfJobs(intake, 2);
  await take();
  const { batch: lost } = await aBatchOfJobs(intake, 2);
  await intake.close();
  expect(await restoreSnapshot(operator.ctx, OLGA, file, { replace: true })).toMatchObject({ kind: "restored" });
  const next = await testWorker(connect, "batch-intake");
  const { batch } = await aBatchOfJobs(next, 2);
  await next.close();
  expect(Number(batch.slice(3))).toBeGreaterThan(Number(lost.slice(3)) + GAP.batch - 1_000);
});
