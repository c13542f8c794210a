/** Two processes of every stage on one tree: they share the work, and nothing is done twice. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { listBucket } from "@sluice/queue-core";
import { checkInvariants, describeViolation, testZooKeeper, type TestZooKeeper } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { type Content, receiveCallbacks, type Receiver, serveContent } from "../support/content.ts";
import { inventoryCounts, mails, storedObjects } from "../support/effects.ts";
import { type Fleet, makeFleet, PIPELINE_SERVICES, type Running } from "../support/fleet.ts";
import { jobsSettled, OBSERVER_SESSION_MS, untilReported } from "../support/watch.ts";

const OBJECTS = 60;

let zk: TestZooKeeper;
let fleet: Fleet;
let content: Content;
let receiver: Receiver;
let session: Session;
let running: readonly Running[];

beforeAll(async () => {
  [zk, content, receiver] = await Promise.all([testZooKeeper(), serveContent(), receiveCallbacks()]);
  fleet = await makeFleet({ zookeeper: zk.connect, callbackUrl: receiver.url });
  running = await fleet.startAll([...PIPELINE_SERVICES, ...PIPELINE_SERVICES]);
  session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
});
afterAll(async () => {
  await fleet.stop();
  await session.close();
  await Promise.all([content.close(), receiver.close()]);
});

const both = (service: string): readonly Running[] => running.filter((each) => each.service === service);

describe("two processes of each stage", () => {
  test(`take ${OBJECTS} objects, submitted to both, through together, each step of each object once`, async () => {
    const ids = await Promise.all(
      both("batch-intake").map((intake, i) =>
        fleet.submit(intake, {
          payload_url: content.batchManifest(OBJECTS / 2, `${i}-`),
          type: "single-file-batch-manifest",
        }),
      ),
    );
    expect(ids[0]).not.toBe(ids[1]);
    for (const id of ids) {
      expect(await untilReported(session, id)).toBe("Completed");
      expect(await listBucket(session, id, "batch-completed")).toHaveLength(OBJECTS / 2);
    }
    for (const service of PIPELINE_SERVICES.filter((name) => name !== "reporter")) {
      const done = await Promise.all(both(service).map((each) => jobsSettled(each, "done")));
      expect([service, done.reduce((sum, n) => sum + n, 0)]).toEqual([service, OBJECTS]);
    }
    const stored = await storedObjects(join(fleet.dataDir, "store"));
    expect(stored.map(({ head }) => head)).toEqual(Array.from({ length: OBJECTS }, () => "v1"));
    expect(inventoryCounts(join(fleet.dataDir, "inventory.db"))).toEqual({
      objects: OBJECTS,
      versions: OBJECTS,
      ingests: OBJECTS,
    });
    expect(receiver.keys).toHaveLength(OBJECTS);
    expect(new Set(receiver.keys).size).toBe(OBJECTS);
    expect(await mails(fleet.dataDir)).toEqual(ids.map((id) => `${id}.1.eml`).sort());
  });

  // The part of each is decided by a hash: that one of two gets none of 60 happens once in 10^17 runs.
  // One provisioner at a time admits: the sum of what is promised is its to know.
  test("share every stage's work, but for admission", async () => {
    const apart = ["reporter", "batch-intake", "provisioner"];
    for (const each of running.filter(({ service }) => !apart.includes(service))) {
      expect([each.service, await jobsSettled(each, "done")]).not.toEqual([each.service, 0]);
    }
  });

  test("kept every invariant at every zxid", () => {
    const checked = checkInvariants({ logDir: zk.logDir, root: zk.root });
    expect(checked.violations.map(describeViolation)).toEqual([]);
  });
});
