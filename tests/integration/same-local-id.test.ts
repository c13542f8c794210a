/**
 * Goal: a depositor's name stands for one object, whoever submits it, however many at once.
 * Method: several batches with the same new local ids go through two processors while nothing is recorded: the recorder is
 * started only when all of them have been stored.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { listBucket, readJobs } from "@sluice/queue-core";
import { checkInvariants, describeViolation, testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { type Content, serveContent } from "../support/content.ts";
import { inventoryCounts, storedObjects } from "../support/effects.ts";
import { type Fleet, makeFleet, PIPELINE_SERVICES, type Running } from "../support/fleet.ts";
import { OBSERVER_SESSION_MS, untilReported } from "../support/watch.ts";

const NAMES = 4;
const BATCHES = 3;

let zk: TestZooKeeper;
let fleet: Fleet;
let content: Content;
let session: Session;
let intake: Running;

beforeAll(async () => {
  [zk, content] = await Promise.all([testZooKeeper(), serveContent()]);
  const env = { POLL_INTERVAL_MS: "100", OBJECT_BUSY_WAIT_MS: "50" };
  fleet = await makeFleet({ zookeeper: zk.connect, env });
  const services = PIPELINE_SERVICES.filter((service) => service !== "recorder");
  [intake] = (await fleet.startAll([...services, "processor"])) as [Running];
  session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
});
afterAll(async () => {
  await fleet.stop();
  await session.close();
  await content.close();
});

describe("jobs with the same new local id, at once", () => {
  test("make one object, with a version for each", async () => {
    const ids = await Promise.all(
      Array.from({ length: BATCHES }, () =>
        fleet.submit(intake, { payload_url: content.batchManifest(NAMES), type: "single-file-batch-manifest" }),
      ),
    );
    const recording = async (): Promise<number> => {
      const entries = await session.children("/jobs/states/recording");
      return entries.ok ? entries.value.names.length : 0;
    };
    await waitFor(async () => (await recording()) === NAMES * BATCHES, { what: "all stored" });
    const stored = await storedObjects(join(fleet.dataDir, "store"));
    expect(stored.map(({ head }) => head)).toEqual(Array.from({ length: NAMES }, () => `v${BATCHES}`));
    await fleet.start("recorder");
    const arks = new Map<string, Set<string>>();
    for (const id of ids) {
      expect(await untilReported(session, id)).toBe("Completed");
      const jobs = await readJobs(session, (await listBucket(session, id, "batch-completed")) ?? []);
      for (const job of jobs ?? []) {
        if (job.kind !== "found") throw new Error(job.kind);
        const { primary_id: ark, local_id: names } = job.value.identifiers!;
        for (const name of names) arks.set(name, (arks.get(name) ?? new Set<string>()).add(ark!));
      }
    }
    expect([...arks.values()].map(({ size }) => size)).toEqual(Array.from({ length: NAMES }, () => 1));
    expect(inventoryCounts(join(fleet.dataDir, "inventory.db"))).toEqual({
      objects: NAMES,
      versions: NAMES * BATCHES,
      ingests: NAMES * BATCHES,
    });
  });

  test("kept every invariant at every zxid", () => {
    const checked = checkInvariants({ logDir: zk.logDir, root: zk.root });
    expect(checked.violations.map(describeViolation)).toEqual([]);
  });
});
