/**
 * Goal: whatever a job has done before, it can be resumed at any stage, and its object is stored and recorded once.
 * Method: jobs go as far as Notify, where nobody takes them; each is failed there and resumed at another stage, with the
 * files, the stored version and the rows of its first time all in place.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { actOnJob, type BatchId, type JobId, type JobState, listBucket, readJobs, resumeJob } from "@sluice/queue-core";
import {
  checkInvariants,
  describeViolation,
  testWorker,
  type TestWorker,
  testZooKeeper,
  type TestZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { type Content, serveContent } from "../support/content.ts";
import { inventoryCounts, storedObjects } from "../support/effects.ts";
import { type Fleet, makeFleet, PIPELINE_SERVICES, type Running } from "../support/fleet.ts";
import { untilReported } from "../support/watch.ts";

const OPERATOR = { name: "ops", reason: "once more" };
const STAGES = ["Estimating", "Provisioning", "Downloading", "Processing", "Recording"] as const satisfies JobState[];

let zk: TestZooKeeper;
let fleet: Fleet;
let content: Content;
let operator: TestWorker;
let intake: Running;

beforeAll(async () => {
  [zk, content] = await Promise.all([testZooKeeper(), serveContent()]);
  fleet = await makeFleet({ zookeeper: zk.connect, env: { POLL_INTERVAL_MS: "100" } });
  [intake] = (await fleet.startAll(PIPELINE_SERVICES.filter((service) => service !== "notifier"))) as [Running];
  operator = await testWorker(zk.connect, "operator", { register: false });
});
afterAll(async () => {
  await fleet.stop();
  await operator.close();
  await content.close();
});

/** The jobs of a batch, once all of them wait in Notify. */
async function untilAllNotify(id: BatchId): Promise<readonly JobId[]> {
  return await waitFor(
    async () => {
      const jobs = (await listBucket(operator.session, id, "batch-processing")) ?? [];
      const views = (await readJobs(operator.session, jobs)) ?? [];
      const there = views.filter((view) => view.kind === "found" && view.value.status.status === "Notify");
      return there.length === STAGES.length ? jobs : null;
    },
    { what: "all jobs in Notify" },
  );
}

describe("a job whose files, version and rows are all there", () => {
  test("is resumed at any earlier stage, and nothing of it is there twice", async () => {
    const id = await fleet.submit(intake, {
      payload_url: content.batchManifest(STAGES.length),
      type: "single-file-batch-manifest",
    });
    for (const [index, job] of (await untilAllNotify(id)).entries()) {
      expect(await actOnJob(operator.ctx, OPERATOR, "fail", job)).toEqual({ kind: "applied" });
      expect(await resumeJob(operator.ctx, OPERATOR, job, STAGES[index])).toEqual({ kind: "applied" });
    }
    await untilAllNotify(id);
    await fleet.start("notifier");
    expect(await untilReported(operator.session, id)).toBe("Completed");
    const stored = await storedObjects(join(fleet.dataDir, "store"));
    expect(stored.map(({ head }) => head)).toEqual(STAGES.map(() => "v1"));
    expect(inventoryCounts(join(fleet.dataDir, "inventory.db"))).toEqual({
      objects: STAGES.length,
      versions: STAGES.length,
      ingests: STAGES.length,
    });
  });

  test("kept every invariant at every zxid", () => {
    const checked = checkInvariants({ logDir: zk.logDir, root: zk.root });
    expect(checked.violations.map(describeViolation)).toEqual([]);
  });
});
