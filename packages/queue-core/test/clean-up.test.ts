import type { Session } from "@sluice/zookeeper";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { aBatchOfJobs, aSubmission, testWorker, type TestWorker, testZooKeeper, tree } from "@sluice/testkit";
import {
  actOnBatch,
  type BatchId,
  batchUuidFromKey,
  cleanUpBatch,
  createBatch,
  expireKeys,
  makeIdBlocks,
  parseQueueEntry,
  paths,
  readBatch,
  readJob,
  sweepEntry,
} from "../src/index.ts";
import { claimBatch, finish } from "./support/batch-work.ts";

const OPERATOR = { name: "olga", reason: "because" };
let connect: string;
let intake: TestWorker;
let reporter: TestWorker;
let operator: TestWorker;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
  reporter = await testWorker(connect, "reporter");
  operator = await testWorker(connect, "operator", { register: false });
});
afterEach(async () => {
  await Promise.all([intake, reporter, operator].map((w) => w.close()));
});

const statusOf = async (id: BatchId): Promise<string> => {
  const view = await readBatch(reporter.session, id);
  return view.kind === "found" ? view.value.status.status : view.kind;
};

describe("a submission key", () => {
  async function cleanedUp(key: string) {
    const uuid = batchUuidFromKey("caller", key);
    const request = { uuid, submission: aSubmission({ request_digest: "d" }), epoch: 1 };
    const made = await createBatch(intake.ctx, makeIdBlocks(intake.ctx), request);
    if (made.kind !== "created") throw new Error(made.kind);
    await intake.batches.settle(await claimBatch(intake, "Pending", made.id), { kind: "park", why: "held" });
    await actOnBatch(operator.ctx, OPERATOR, "delete", made.id);
    expect(await cleanUpBatch(reporter.ctx, made.id)).toEqual({ kind: "cleaned", jobs: 0 });
    return { request, id: made.id };
  }

  test("still answers with its batch after the batch was cleaned up, and never makes a second one", async () => {
    const { request, id } = await cleanedUp("key-9");
    const ids = makeIdBlocks(intake.ctx);
    expect(await createBatch(intake.ctx, ids, request)).toEqual({ kind: "replayed", id });
    const other = { ...request, submission: aSubmission({ request_digest: "e" }) };
    expect(await createBatch(intake.ctx, ids, other)).toEqual({ kind: "conflict", id });
    const batches = await intake.session.children(paths.batches);
    expect(batches.ok && batches.value.names).toEqual([]);
  });

  test("is forgotten when nobody can repeat it any more", async () => {
    await cleanedUp("key-10");
    expect(await expireKeys(reporter.ctx)).toBe(0);
    const session = new Proxy(reporter.session, {
      get: (target, key: keyof Session) => {
        if (key === "serverNowMs") return () => target.serverNowMs() + 32 * 86_400_000;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const later = { ...reporter.ctx, session };
    expect(await expireKeys(later)).toBe(1);
    expect(await tree(reporter.session, { under: ["/fleet/keys"] })).toEqual({ "/fleet/keys": null });
  });
});

describe("sweeping", () => {
  test("removes the entry of a completed job and keeps its data", async () => {
    const { jobs } = await aBatchOfJobs(intake, 1);
    await finish(connect, jobs[0]!);
    const names = await reporter.session.children(paths.queue("Completed"));
    const entry = parseQueueEntry(names.ok ? names.value.names[0]! : "")!;
    expect(await sweepEntry(reporter.ctx, "Completed", entry)).toBe(true);
    expect(await sweepEntry(reporter.ctx, "Completed", entry)).toBe(true);
    expect(await readJob(reporter.session, jobs[0]!)).toMatchObject({ kind: "found" });
  });

  test("touches nothing that is not over", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    expect(await sweepEntry(reporter.ctx, "Completed", { priority: 5, id: jobs[0]! })).toBe(false);
    expect(await cleanUpBatch(reporter.ctx, batch)).toMatchObject({ kind: "not-yet" });
    expect(await statusOf(batch)).toBe("Processing");
  });
});
