/**
 * Goal: a process killed by kill -9 between any two steps loses nothing and does nothing twice.
 * Method: every service dies at each of its steps in turn (failpoints), is started again, and at the end runs freely.
 * Then each effect is counted where it happened: store, inventory, callbacks, mail.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { listBucket, readBatch } from "@sluice/queue-core";
import { checkInvariants, describeViolation, type OwnZooKeeper, ownZooKeeper, waitFor } from "@sluice/testkit";
import { connectSession } from "@sluice/zookeeper";
import { type Content, receiveCallbacks, type Receiver, serveContent } from "../support/content.ts";
import { inventoryCounts, mails, storedObjects } from "../support/effects.ts";
import {
  type Fleet,
  makeFleet,
  PIPELINE_SERVICES,
  type Running,
  type ServiceName,
  untilReady,
} from "../support/fleet.ts";

const OBJECTS = 24;
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
const STEPS: Readonly<Record<ServiceName, readonly string[]>> = {
  "batch-intake": ["afterBatchClaim", "beforeBatchCommit", "afterBatchCommit", "midEffect", ...jobSteps()],
  estimator: jobSteps("midEffect"),
  provisioner: jobSteps(),
  downloader: jobSteps("midEffect"),
  processor: jobSteps("afterMint", "afterIdentify", "storeStaged", "midEffect", "storeMended"),
  recorder: jobSteps("midEffect"),
  notifier: jobSteps(),
  reporter: ["afterFolder", "afterBatchClaim", "beforeEffect", "afterEffect", "beforeBatchCommit", "afterBatchCommit"],
  admin: [],
};

let zk: OwnZooKeeper;
let fleet: Fleet;
let content: Content;
let receiver: Receiver;

beforeAll(async () => {
  [zk, content, receiver] = await Promise.all([ownZooKeeper(), serveContent(), receiveCallbacks()]);
  const env = { ATTEMPTS_MAX: "60", POLL_INTERVAL_MS: "200", SWEEP_INTERVAL_MS: "300" };
  fleet = await makeFleet({ zookeeper: zk.connect, callbackUrl: receiver.url, sessionMs: 1_500, env });
}, 60_000);
afterAll(async () => {
  await fleet.stop();
  await Promise.all([zk.stop(), content.close(), receiver.close()]);
});

/** Runs the service, dying once at each step; answers with the steps at which it really died. */
async function dieAtEachStep(service: ServiceName, done: Promise<string>, first: Running): Promise<readonly string[]> {
  const died: string[] = [];
  let running = first;
  for (const step of STEPS[service]) {
    const ended = await Promise.race([running.child.exited, done]);
    if (ended !== "signal SIGKILL") break;
    died.push(step);
    const next = STEPS[service][died.length];
    running = await fleet.start(service, next === undefined ? {} : { FAILPOINTS: `${service}.${next}=kill#1` });
  }
  return died;
}

async function untilAllDied(deaths: readonly Promise<unknown>[]): Promise<void> {
  let all = false;
  void Promise.all(deaths).then(() => (all = true));
  await waitFor(() => all, { limitMs: 30_000 });
}

describe("kill -9 at every step of every service", () => {
  test(`${OBJECTS} objects are each stored, recorded, called back once, and reported once`, async () => {
    const session = await connectSession({ connect: zk.connect, timeoutMs: 10_000 });
    let finish: (word: string) => void = () => undefined;
    const done = new Promise<string>((resolve) => (finish = resolve));
    const first = new Map<ServiceName, Running>();
    for (const service of PIPELINE_SERVICES) {
      const step = STEPS[service][0] ?? "";
      first.set(service, await fleet.start(service, { FAILPOINTS: `${service}.${step}=kill#1` }));
    }
    const intake = first.get("batch-intake")!;
    await untilReady(intake);
    const id = await fleet.submit(intake, {
      payload_url: content.batchManifest(OBJECTS),
      type: "single-file-batch-manifest",
    });
    const deaths = PIPELINE_SERVICES.map((service) => dieAtEachStep(service, done, first.get(service)!));
    const status = await waitFor(
      async () => {
        const view = await readBatch(session, id);
        const now = view.kind === "found" ? view.value.status.status : "";
        return ["Completed", "Failed"].includes(now) ? now : null;
      },
      { what: "the report", limitMs: 240_000 },
    );
    // The sweep of ended jobs is the last of the reporter's steps.
    await waitFor(
      async () => await session.children("/jobs/states/completed").then((c) => c.ok && c.value.names.length === 0),
      { limitMs: 60_000 },
    );
    await untilAllDied(deaths).catch(() => undefined); // what is missing shows below
    finish("enough");
    const died = Object.fromEntries(
      await Promise.all(deaths.map(async (d, i) => [PIPELINE_SERVICES[i]!, await d] as const)),
    );
    console.log("died at:", JSON.stringify(died));

    expect(status).toBe("Completed");
    expect(await listBucket(session, id, "batch-completed")).toHaveLength(OBJECTS);
    const stored = await storedObjects(join(fleet.dataDir, "store"));
    expect(stored.map(({ head }) => head)).toEqual(Array.from({ length: OBJECTS }, () => "v1"));
    expect(inventoryCounts(join(fleet.dataDir, "inventory.db"))).toMatchObject({ objects: OBJECTS, versions: OBJECTS });
    // A callback may be sent again after a kill, with the same key: once is what the receiver makes of it.
    expect(new Set(receiver.keys).size).toBe(OBJECTS);
    expect(await mails(fleet.dataDir)).toEqual([`${id}.1.eml`]);
    for (const service of PIPELINE_SERVICES) expect([service, died[service]]).toEqual([service, STEPS[service]]);
    await session.close();
  }, 400_000);

  test("kept every invariant at every zxid", () => {
    const checked = checkInvariants({ logDir: zk.logDir, root: "/" });
    expect(checked.violations.map(describeViolation)).toEqual([]);
  });
});
