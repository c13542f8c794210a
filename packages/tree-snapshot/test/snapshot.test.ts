/** The tree to a file and back, against a real ZooKeeper. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { fsck } from "@sluice/fsck";
import { actOnJob, initTree, type JobId, paths, type QueueContext, readIdentity, setHold } from "@sluice/queue-core";
import {
  aBatchOfJobs,
  advance,
  claimJob,
  openRawSession,
  startFaultProxy,
  testWorker,
  type TestWorker,
  testZooKeeper,
  tree,
} from "@sluice/testkit";
import { connectSession, makeCommitter, type Session } from "@sluice/zookeeper";
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { restoreSnapshot, takeSnapshot } from "../src/index.ts";

const OLGA = { name: "olga", reason: "the disk was lost" };
let folder: string;
let file: string;
let intake: TestWorker;
let operator: TestWorker;
let jobs: readonly JobId[];
const opened: TestWorker[] = [];
const bare: Session[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-snapshot-"));
  file = join(folder, "tree.gz");
  const { connect } = await testZooKeeper();
  intake = await testWorker(connect, "batch-intake");
  operator = await open(connect);
  ({ jobs } = await aBatchOfJobs(intake, 30));
  await advance(connect, jobs[0]!, "Processing");
  await actOnJob(operator.ctx, { name: "olga", reason: "ünï 水 \n\u0000" }, "fail", jobs[1]!);
  await setHold(operator.ctx, OLGA, { kind: "queue" });
  const foreign = await openRawSession(connect);
  await foreign.multi([{ op: "create", path: "/migration", data: Buffer.from([0, 255, 254, 10]) }]);
  await foreign.close();
});
afterEach(async () => {
  await Promise.all([intake, ...opened.splice(0), ...bare.splice(0)].map((each) => each.close()));
  await rm(folder, { recursive: true });
});

async function open(connect: string): Promise<TestWorker> {
  const worker = await testWorker(connect, "operator", { register: false });
  opened.push(worker);
  return worker;
}
/** A session on a tree that has nothing in it. */
async function bareQueue(connect: string): Promise<QueueContext> {
  const session = await connectSession({ connect, timeoutMs: 10_000 });
  bare.push(session);
  return { ...operator.ctx, session, committer: makeCommitter(session) };
}
const emptyTree = async (): Promise<QueueContext> => await bareQueue((await testZooKeeper()).connect);
const take = () => takeSnapshot(operator.session, file, { nowMs: 0 });
const content = (source: TestWorker["session"]) =>
  tree(source, { except: /^\/fleet\/(audit|workers\/|id$|epoch$|ids$|jobs\/)|\/lock$/ });

describe("a snapshot", () => {
  test("comes back byte for byte, under a new id, without what belonged to sessions, and fsck finds nothing", async () => {
    await claimJob(intake, "Pending", jobs[2]!);
    const taken = await take();
    expect(taken).toMatchObject({ kind: "taken", header: { consistency: "exact", fleet: operator.identity.history } });
    const ctx = await emptyTree();
    const restored = await restoreSnapshot(ctx, OLGA, file);
    if (restored.kind !== "restored") throw new Error(JSON.stringify(restored));
    expect(restored.identity.history).not.toBe(operator.identity.history);
    const before = await readIdentity(operator.ctx);
    if (!before.ok) throw new Error(before.problem);
    expect(restored.identity.fleet).toBe(before.identity.fleet);
    expect(restored.identity.epoch).toBeGreaterThan(before.identity.epoch);
    expect(await content(ctx.session)).toEqual(await content(operator.session));
    const raw = await ctx.session.get("/migration");
    expect(raw.ok && [...raw.value.data]).toEqual([0, 255, 254, 10]);
    expect(await ctx.session.exists(paths.jobLock(jobs[2]!))).toEqual({ ok: true, value: null });
    expect(await initTree(ctx)).toMatchObject({ ok: true, identity: restored.identity });
    expect(await fsck(ctx.session)).toMatchObject({ kind: "looked", report: { severity: "pass" } });
  });

  test("is readable to its owner alone, and leaves no half file behind", async () => {
    await take();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["tree.gz"]);
  });

  test("that the disk does not take is refused with the reason", async () => {
    expect(await takeSnapshot(operator.session, join(folder, "none", "tree.gz"), { nowMs: 0 })).toMatchObject({
      kind: "refused",
      why: expect.stringContaining("ENOENT"),
    });
    // A device that is always full: the error comes in the middle of writing.
    await symlink("/dev/full", `${file}.partial`);
    expect(await take()).toMatchObject({ kind: "refused", why: expect.stringContaining("ENOSPC") });
    expect(await readdir(folder)).toEqual([]);
  });

  test("of a tree that moves is refused, or marked", async () => {
    const stop = new AbortController();
    const moving = (async () => {
      for (let i = 0; !stop.signal.aborted; i = (i + 1) % 2) {
        await actOnJob(intake.ctx, OLGA, i === 0 ? "hold" : "release", jobs[5]!);
      }
    })();
    expect(await takeSnapshot(operator.session, file, { nowMs: 0, tries: 2 })).toEqual({ kind: "moving" });
    expect(await readdir(folder)).toEqual([]);
    expect(await takeSnapshot(operator.session, file, { nowMs: 0, tries: 1, whileMoving: true })).toMatchObject({
      kind: "taken",
      header: { consistency: "moving" },
    });
    stop.abort();
    await moving;
  });
});

describe("a restore refuses, and writes nothing,", () => {
  const DAMAGE: readonly (readonly [string, (whole: Buffer) => Buffer])[] = [
    ["a torn file", (whole) => whole.subarray(0, whole.length - 40)],
    [
      "a file without its end",
      (whole) => gzipSync(gunzipSync(whole).toString().split("\n").slice(0, -2).join("\n") + "\n"),
    ],
    [
      "a changed file",
      (whole) => gzipSync(gunzipSync(whole).toString().replace("sluice_demo_content", "sluice_demo_CONTENT")),
    ],
    ["a file that is something else", () => Buffer.from("hello")],
    ["an empty file", () => Buffer.alloc(0)],
  ];
  test.each(DAMAGE)("%s", async (_, damage) => {
    await take();
    await writeFile(file, damage(await readFile(file)));
    const ctx = await emptyTree();
    expect(await restoreSnapshot(ctx, OLGA, file)).toMatchObject({ kind: "refused" });
    expect(await tree(ctx.session)).toEqual({});
  });

  test("a file that is not there", async () => {
    const ctx = await emptyTree();
    expect(await restoreSnapshot(ctx, OLGA, `${file}x`)).toMatchObject({ kind: "refused" });
  });

  test("while a worker is registered, and a tree that is not empty unless told to replace it", async () => {
    await take();
    expect(await restoreSnapshot(operator.ctx, OLGA, file, { replace: true })).toMatchObject({
      kind: "refused",
      why: expect.stringContaining("batch-intake is at work"),
    });
    await intake.close();
    const before = await content(operator.session);
    expect(await restoreSnapshot(operator.ctx, OLGA, file)).toMatchObject({
      kind: "refused",
      why: expect.stringContaining("not empty"),
    });
    await actOnJob(operator.ctx, OLGA, "fail", jobs[7]!);
    expect(await restoreSnapshot(operator.ctx, OLGA, file, { replace: true })).toMatchObject({ kind: "restored" });
    expect(await content(operator.session)).toEqual(before);
  });
});

test("a restore that was broken off is recognised: no service starts on it, and it is begun again", async () => {
  await take();
  const { connect } = await testZooKeeper();
  const proxy = await startFaultProxy(connect);
  // The first multi makes the marker, the second begins to write.
  const cuts = (async () => {
    await proxy.onNext("multi", "pass");
    await proxy.onNext("multi", "cutAfterForward");
  })();
  const ctx = await bareQueue(proxy.connect);
  expect(await restoreSnapshot(ctx, OLGA, file)).toMatchObject({ kind: "broken-off" });
  await cuts;
  const again = await bareQueue(connect);
  expect(await initTree(again)).toMatchObject({ ok: false, problem: expect.stringContaining("/fleet/restoring") });
  expect(await takeSnapshot(again.session, `${file}2`, { nowMs: 0 })).toMatchObject({ kind: "refused" });
  expect(await restoreSnapshot(again, OLGA, file)).toMatchObject({ kind: "refused" });
  expect(await restoreSnapshot(again, OLGA, file, { replace: true })).toMatchObject({ kind: "restored" });
  expect(await content(again.session)).toEqual(await content(operator.session));
  await ctx.session.close();
  await proxy.close();
});
