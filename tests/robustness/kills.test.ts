/**
 * Goal: a process killed by kill -9 between any two steps loses nothing and does nothing twice.
 * Method: every service dies at each of its steps in turn (failpoints), is started again, and at the end runs freely.
 * Then each effect is counted where it happened: store, inventory, callbacks, mail.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { listBucket } from "@sluice/queue-core";
import { checkInvariants, describeViolation, type OwnZooKeeper, ownZooKeeper, waitFor } from "@sluice/testkit";
import { connectSession } from "@sluice/zookeeper";
import { type Content, receiveCallbacks, type Receiver, serveContent } from "../support/content.ts";
import { sized } from "../support/campaign.ts";
import { startDying } from "../support/deaths.ts";
import { inventoryCounts, mails, storedObjects } from "../support/effects.ts";
import { type Fleet, makeFleet, PIPELINE_SERVICES, untilReady } from "../support/fleet.ts";
import { doubledIn, linesOf } from "../support/log-lines.ts";
import { OBSERVER_SESSION_MS, untilReported } from "../support/watch.ts";

const OBJECTS = sized({ smoke: 8, whole: 24 });
/** In the order in which they can still happen: what ends the last job or batch comes last. */
const jobSteps = (...effects: readonly string[]): readonly string[] => [
  "afterPick",
  "afterClaim",
  "beforeEffect",
  ...effects,
  "afterEffect",
  "beforeCommit",
  "afterCommit",
];
type StepsOfAll = Readonly<Record<(typeof PIPELINE_SERVICES)[number], readonly string[]>>;
const EVERY_STEP: StepsOfAll = {
  "batch-intake": ["afterBatchClaim", "beforeBatchCommit", "afterBatchCommit", "midEffect", ...jobSteps()],
  estimator: jobSteps("midEffect"),
  provisioner: jobSteps(),
  downloader: jobSteps("midEffect"),
  processor: jobSteps("afterMint", "afterIdentify", "storeStaged", "midEffect", "storeMended"),
  recorder: jobSteps("midEffect"),
  notifier: jobSteps(),
  reporter: ["afterFolder", "afterBatchClaim", "beforeEffect", "afterEffect", "beforeBatchCommit", "afterBatchCommit"],
};

/** Of each service the death that leaves the most behind. */
const HARD_STEPS: StepsOfAll = {
  "batch-intake": ["midEffect"],
  estimator: ["afterClaim"],
  provisioner: ["beforeCommit"],
  downloader: ["midEffect"],
  processor: ["afterMint", "midEffect"],
  recorder: ["afterEffect"],
  notifier: ["afterEffect"],
  reporter: ["afterEffect"],
};
const STEPS = sized({ smoke: HARD_STEPS, whole: EVERY_STEP });
/** Long enough for a session of a machine that is busy, and waited for after each death. */
const SESSION_MS = 4_000;

let zk: OwnZooKeeper;
let fleet: Fleet;
let content: Content;
let receiver: Receiver;

beforeAll(async () => {
  [zk, content, receiver] = await Promise.all([ownZooKeeper(), serveContent(), receiveCallbacks()]);
  const env = { ATTEMPTS_MAX: "60", POLL_INTERVAL_MS: "200", SWEEP_INTERVAL_MS: "300" };
  fleet = await makeFleet({
    zookeeper: zk.connect,
    callbackUrl: receiver.url,
    queuedMails: true,
    sessionMs: SESSION_MS,
    env,
  });
});
afterAll(async () => {
  await fleet.stop();
  await Promise.all([zk.stop(), content.close(), receiver.close()]);
});

describe("kill -9 of every service at its steps", () => {
  test(`${OBJECTS} objects are each stored, recorded, called back once, and reported once`, async () => {
    const session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
    const deaths = await startDying(fleet, PIPELINE_SERVICES, STEPS);
    const intake = deaths.first.get("batch-intake")!;
    await untilReady(intake);
    const id = await fleet.submit(intake, {
      payload_url: content.batchManifest(OBJECTS),
      type: "single-file-batch-manifest",
    });
    const status = await untilReported(session, id);
    // The sweep of ended jobs is the last of the reporter's steps.
    await waitFor(
      async () => await session.children("/jobs/states/completed").then((c) => c.ok && c.value.names.length === 0),
    );
    const died = await deaths.settle();
    console.log("died at:", JSON.stringify(died));

    expect(status).toBe("Completed");
    expect(await listBucket(session, id, "batch-completed")).toHaveLength(OBJECTS);
    const stored = await storedObjects(join(fleet.dataDir, "store"));
    expect(stored.map(({ head }) => head)).toEqual(Array.from({ length: OBJECTS }, () => "v1"));
    expect(inventoryCounts(join(fleet.dataDir, "inventory.db"))).toMatchObject({ objects: OBJECTS, versions: OBJECTS });
    // A callback may be sent again after a kill, with the same key: once is what the receiver makes of it.
    expect(new Set(receiver.keys).size).toBe(OBJECTS);
    expect(await mails(fleet.dataDir)).toEqual([`${id}.1.eml`, `${id}.queued.eml`]);
    for (const service of PIPELINE_SERVICES) expect([service, died[service]]).toEqual([service, STEPS[service]]);
    await session.close();
  });

  test("is in the logs: whose job was taken over from whom, and no key stands twice in a line", async () => {
    const lines = await linesOf(fleet.dataDir);
    expect(doubledIn(lines)).toEqual([]);
    const takenOver = lines.filter(({ said }) => said["lost_worker"] !== undefined);
    expect(takenOver.length).toBeGreaterThan(0);
    for (const { said } of takenOver)
      expect(said).toMatchObject({ level: "warn", job_id: expect.stringMatching(/^jid/), worker: expect.any(String) });
  });

  test("kept every invariant at every zxid", () => {
    const checked = checkInvariants({ logDir: zk.logDir, root: "/" });
    expect(checked.violations.map(describeViolation)).toEqual([]);
  });
});
