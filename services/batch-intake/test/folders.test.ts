/** Goal: no upload leaves a folder for ever, and none that somebody still needs is removed. */
import { mkdir, readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { batchId, createBatch, FIRST_EPOCH, makeIdBlocks, parseBatchFolder, paths } from "@sluice/queue-core";
import { type SweepContext, silentLog } from "@sluice/stage-runtime";
import { testWorker, type TestWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { listBatchFolders, openBatchFolders } from "@sluice/working-folder";
import { systemClock } from "@sluice/zookeeper";
import { sweepFolders } from "../src/duties/sweep-folders.ts";
import type { NewBatch, Reserved } from "../src/intake-queue.ts";
import { Ingester } from "../src/journal/ingester.ts";
import { formOf, startApp } from "./http-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const HOUR_MS = 3_600_000;
const GRACE_MS = 48 * HOUR_MS;
let app: Awaited<ReturnType<typeof startApp>>;
let worker: TestWorker;
let removed: number;

beforeEach(async () => {
  app = await startApp(cleanups);
  const zookeeper = await testZooKeeper();
  worker = await testWorker(zookeeper.connect, "batch-intake");
  cleanups.add(() => worker.close());
  removed = 0;
  const ids = makeIdBlocks(worker.ctx);
  Object.assign(app.queue, {
    fleet: () => worker.identity.history,
    async reserve(): Promise<Reserved | null> {
      const batchId = await ids.nextBatch();
      const { epoch: batchEpoch, history: fleet } = worker.identity;
      return batchId === null ? null : { batchId, batchEpoch, fleet };
    },
    create: ({ uuid, submission, place }: NewBatch) =>
      createBatch(worker.ctx, ids, { uuid, submission, id: place!.batchId, epoch: place!.batchEpoch }),
  });
});

/** ZooKeeper gives out numbers, and is silent before it answers one of so many creations. */
function fallSilent(after: number): { readonly answerAgain: () => void } {
  const create = app.queue.create.bind(app.queue);
  let come = 0;
  let silent: () => void = () => undefined;
  const allCame = new Promise<void>((resolve) => (silent = resolve));
  app.queue.create = async () => {
    if (++come === after) silent();
    await allCame;
    return { kind: "lost" };
  };
  return { answerAgain: () => void (app.queue.create = create) };
}

const submit = (key: string): Promise<Response> =>
  app.postForm(formOf({ profile: "demo_content", type: "file" }), { "idempotency-key": key });

const foldersLeft = async (): Promise<readonly string[]> =>
  (await readdir(app.root)).filter((name) => parseBatchFolder(name) !== null).sort();

/** As the service runs it, so long after now. */
async function sweep(laterMs: number): Promise<void> {
  const folders = await openBatchFolders(app.root);
  const clock = { nowMs: () => systemClock.nowMs() + laterMs, monotonicMs: () => 0 };
  const ctx = { clock, log: silentLog(), queue: worker.ctx, signal: new AbortController().signal };
  const duty = sweepFolders({ folders, graceMs: GRACE_MS, onRemoved: () => (removed += 1) });
  await duty.run({ ...ctx, worker: "w", failpoint: () => Promise.resolve() });
}

async function drain(): Promise<void> {
  const counter = { inc: () => undefined } as never;
  const ingester = new Ingester({
    ...app.opened,
    queue: app.queue,
    reader: app.queue,
    removeBatchFolder: (bid) => app.deps.removeBatchFolder(bid),
    clock: systemClock,
    log: silentLog(),
    metrics: { show: () => undefined, ingested: counter, refused: counter, damaged: counter },
  });
  ingester.start();
  await waitFor(() => app.opened.backlog.isEmpty, { what: "the journal to be empty" });
  await ingester.stop();
}

test("the same upload twice while ZooKeeper falls silent leaves the folder of one batch in the end", async () => {
  const silence = fallSilent(2);
  const answers = await Promise.all([submit("k"), submit("k")]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const both = await foldersLeft();
  expect(both).toHaveLength(2);

  // Within the grace period both stay, and longer the one that the journal names.
  await sweep(GRACE_MS - HOUR_MS);
  expect(await foldersLeft()).toEqual(both);
  await sweep(GRACE_MS + HOUR_MS);
  expect(removed).toBe(1);
  const [kept] = await foldersLeft();
  expect(app.opened.backlog.isEmpty).toBe(false);

  silence.answerAgain();
  await drain();
  await sweep(GRACE_MS + HOUR_MS);
  expect(await foldersLeft()).toEqual([kept]);
  expect(await worker.session.exists(paths.batchStatus(parseBatchFolder(kept!)!.batchId))).toMatchObject({
    ok: true,
    value: { version: 0 },
  });
  expect(await readdir(join(app.root, kept!, "uploads"))).toEqual(["object.txt"]);
  expect(await listBatchFolders(app.root)).toMatchObject([{ name: kept, journaled: false }]);
});

test("a folder under a number that a record of the journal was given is needed until its batch is there", async () => {
  const reserve = app.queue.reserve.bind(app.queue);
  app.queue.reserve = () => Promise.resolve(null);
  expect((await submit("k")).status).toBe(200);
  expect(await foldersLeft()).toEqual([]);

  app.queue.reserve = reserve;
  const silence = fallSilent(1);
  const draining = drain();
  await waitFor(async () => (await foldersLeft()).length === 1, { what: "the number of the record" });
  await sweep(GRACE_MS + HOUR_MS);
  expect(await foldersLeft()).toHaveLength(1);
  silence.answerAgain();
  await draining;
  await sweep(GRACE_MS + HOUR_MS);
  expect(await foldersLeft()).toHaveLength(1);
  expect(removed).toBe(0);
});

test("what is older than this history of the tree is left to people, and so is what is no batch's folder", async () => {
  const old = (systemClock.nowMs() - 90 * 24 * HOUR_MS) / 1_000;
  for (const name of ["bid0000000007", "recycled", "notes"]) await mkdir(join(app.root, name));
  const facts = { path: "", name: "bid0000000007", batch: "bid0000000007", journaled: false };
  const list = () => Promise.resolve([{ ...facts, changedMs: old * 1_000 }]);
  const duty = sweepFolders({
    folders: { list, remove: () => Promise.reject(new Error("removed")) },
    graceMs: GRACE_MS,
    onRemoved: () => undefined,
  });
  const ctx = { clock: systemClock, log: silentLog(), queue: worker.ctx, signal: new AbortController().signal };
  await duty.run(ctx as unknown as SweepContext);
  await utimes(join(app.root, "notes"), old, old);
  await sweep(GRACE_MS + HOUR_MS);
  expect((await readdir(app.root)).filter((name) => !name.startsWith("."))).toEqual(["notes", "recycled"]);
});

test("a journal that is opened again lets go of numbers that no record of it names", async () => {
  await app.opened.uploads.need({ batchId: batchId(9), batchEpoch: FIRST_EPOCH });
  await mkdir(join(app.root, "bid0000000009"));
  expect(await listBatchFolders(app.root)).toMatchObject([{ journaled: true }]);
  await app.reopen();
  expect(await listBatchFolders(app.root)).toMatchObject([{ journaled: false }]);
});
