import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  aBatch,
  aBatchOfJobs,
  advance,
  aSubmission,
  claimJob,
  testWorker,
  type TestWorker,
  testZooKeeper,
} from "@sluice/testkit";
import {
  actOnJob,
  type BatchId,
  BATCHES_SCANNED_FOR_FIRST,
  BATCHES_SCANNED_MAX,
  type BatchQuery,
  listBatches,
  listJobs,
  paths,
  readJob,
  readProgress,
  readSigns,
  records,
  signsOfBatch,
  signsOfJob,
  workerOf,
} from "../src/index.ts";

let connect: string;
let intake: TestWorker;
let downloader: TestWorker;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
  downloader = await testWorker(connect, "downloader");
});
afterEach(() => Promise.all([intake.close(), downloader.close()]));

const makeBatches = async (count: number, submitter = "ada"): Promise<readonly BatchId[]> => {
  const ids: BatchId[] = [];
  for (let i = 0; i < count; i++) ids.push(await aBatch(intake, aSubmission({ submitter })));
  return ids;
};

async function page(query: BatchQuery) {
  const found = await listBatches(intake.session, query);
  if (found === null) throw new Error("no answer");
  return { ids: found.items.map(({ id }) => id), next: found.next };
}

describe("batches", () => {
  test("come newest first, page by page, whatever is added meanwhile", async () => {
    const ids = await makeBatches(5);
    const first = await page({ limit: 2 });
    expect(first).toEqual({ ids: [ids[4], ids[3]], next: ids[3] });
    const [newest] = await makeBatches(1);
    expect(await page({ limit: 2, before: first.next! })).toEqual({ ids: [ids[2], ids[1]], next: ids[1] });
    expect(await page({ limit: 2, before: ids[1]! })).toEqual({ ids: [ids[0]], next: null });
    expect((await page({ limit: 1 })).ids).toEqual([newest]);
  });

  test("of a state are found by it", async () => {
    const pending = await makeBatches(2);
    const { batch } = await aBatchOfJobs(intake, 1);
    expect((await page({ limit: 10, state: "Processing" })).ids).toEqual([batch]);
    expect((await page({ limit: 10, state: "Pending" })).ids).toEqual([...pending].reverse());
    expect(await page({ limit: 10, state: "Held" })).toEqual({ ids: [], next: null });
  });

  test.each([
    ["are passed over until one is found", BATCHES_SCANNED_MAX + 10, null],
    ["are passed over, so many for a page and no more", BATCHES_SCANNED_FOR_FIRST + 10, "bid0000000110"],
  ])("that nobody wants %s", async (_what, others, next) => {
    const { session } = intake;
    // Numbers without a batch behind them: what is read of them is nothing, and counts all the same.
    const made = await Promise.all(
      Array.from({ length: others }, (_, i) =>
        intake.ctx.committer.submit({
          rank: "operator",
          ops: [{ op: "create", path: `/batches/bid${String(i + 100).padStart(10, "0")}`, data: Buffer.alloc(0) }],
        }),
      ),
    );
    expect(made.every(({ ok }) => ok)).toBe(true);
    const [wanted] = await makeBatches(1, "grace");
    const wants: BatchQuery["wants"] = ({ submission }) => submission.submitter === "grace";
    const first = await listBatches(session, { limit: 10, wants });
    if (next === null) {
      expect([first!.items.map(({ id }) => id), first!.next]).toEqual([[wanted], null]);
      return;
    }
    expect(first).toEqual({ items: [], next });
    const second = await listBatches(session, { limit: 10, wants, before: first!.next! });
    expect([second!.items.map(({ id }) => id), second!.next]).toEqual([[wanted], null]);
  });
});

describe("jobs of a batch", () => {
  test("keep their places while they move, and are found by their bucket", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 5);
    const first = await listJobs(intake.session, batch, { limit: 2 });
    expect([first!.items.map(({ id }) => id), first!.next]).toEqual([jobs.slice(0, 2), jobs[1]]);
    const failed = await actOnJob(intake.ctx, { name: "olga", reason: "because" }, "fail", jobs[3]!);
    expect(failed.kind).toBe("applied");
    const second = await listJobs(intake.session, batch, { limit: 5, after: first!.next! });
    expect([second!.items.map(({ id }) => id), second!.next]).toEqual([jobs.slice(2), null]);
    const ended = await listJobs(intake.session, batch, { limit: 5, bucket: "batch-failed" });
    expect(ended!.items.map(({ id, status }) => [id, status.status])).toEqual([[jobs[3], "Failed"]]);
  });
});

describe("signs", () => {
  test("differ after a change, and only then; the transaction's number grows", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 2);
    const look = async () => (await readSigns(intake.session, [signsOfBatch(batch), signsOfJob(jobs[0]!, null)]))!;
    const [batch1, job1] = await look();
    expect(await look()).toEqual([batch1, job1]);
    await actOnJob(intake.ctx, { name: "olga", reason: "because" }, "fail", jobs[1]!);
    const [batch2, job2] = await look();
    expect([batch2!.print === batch1!.print, job2]).toEqual([false, job1]);
    expect(batch2!.zxid > batch1!.zxid).toBe(true);
  });

  test("of what is not there are signs too", async () => {
    const [nothing] = (await readSigns(intake.session, [["/batches/bid0000099999/status"]]))!;
    expect(nothing).toEqual({ print: "-", zxid: 0n });
  });
});

describe("progress", () => {
  test("is what the worker says that has the job in hand", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    await advance(connect, jobs[0]!, "Downloading");
    const before = await readJob(intake.session, jobs[0]!);
    if (before.kind !== "found") throw new Error(before.kind);
    expect([workerOf(before.value), await readProgress(intake.session, before.value)]).toEqual([null, null]);

    await claimJob(downloader, "Downloading", jobs[0]!);
    const path = paths.worker("downloader", downloader.actor.worker);
    const node = await downloader.session.get(path);
    if (!node.ok) throw new Error(node.code);
    const record = records.worker.decode(node.value.data);
    if (!record.ok) throw new Error(record.problem);
    const progress = { doneBytes: 5, totalBytes: 20, note: "a.txt" };
    const data = records.worker.encode({ ...record.value, progress: { [jobs[0]!]: progress } });
    await downloader.ctx.committer.submit({
      rank: "operator",
      ops: [{ op: "set", path, data, version: node.value.stat.version }],
    });
    const view = await readJob(intake.session, jobs[0]!);
    if (view.kind !== "found") throw new Error(view.kind);
    expect(workerOf(view.value)).toBe(path);
    expect(await readProgress(intake.session, view.value)).toEqual(progress);
  });

  test("of a lock that names no worker is unknown", () => {
    const lock = { owner: "../x", stage: "downloader", claim: "c", since: "" };
    expect(workerOf({ lock })).toBeNull();
  });
});
