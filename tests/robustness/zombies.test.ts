/**
 * Goal: a process that was stopped past its session's timeout and wakes up after another one has done its work changes
 * nothing, and is a good worker again by itself.
 * Method: every service stops itself (SIGSTOP) just before it would commit; a second process of the stage finishes its
 * work; SIGCONT. Then each effect is counted where it happened, and the former zombies work alone.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { type BatchId, listBucket, readBatch, readJobs } from "@sluice/queue-core";
import {
  checkInvariants,
  describeViolation,
  type OwnZooKeeper,
  ownZooKeeper,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { sized } from "../support/campaign.ts";
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
import { untilStopped } from "../support/processes.ts";
import { jobsSettled, metric, OBSERVER_SESSION_MS, untilReported, untilSettled } from "../support/watch.ts";

const OBJECTS = 6;
const SESSION_MS = 4_000;
/** Those that become zombies, one after the other; all others run freely. */
const STOPPED_SERVICES = sized<readonly ServiceName[]>({
  smoke: ["downloader", "processor", "reporter"],
  whole: PIPELINE_SERVICES,
});
const ENV = { POLL_INTERVAL_MS: "200", SWEEP_INTERVAL_MS: "300" };
/** Services of jobs stop before a job's commit, the reporter before that of its batch. */
const LAST_STEP = (service: ServiceName): string => (service === "reporter" ? "beforeBatchCommit" : "beforeCommit");
const JOB_SERVICES = STOPPED_SERVICES.filter((service) => service !== "reporter");

let content: Content;
beforeAll(async () => {
  content = await serveContent();
});
afterAll(async () => {
  await content.close();
});

/** It noticed by itself that its session is over, has another one, and takes work again. */
async function untilReborn(zombie: Running): Promise<void> {
  await waitFor(async () => (await metric(zombie, "sluice_zk_sessions_lost_total")) >= 1, {
    what: `${zombie.service} noticed the loss of its session`,
  });
  await untilReady(zombie);
}

describe("services stopped before its commit, past its session, and woken", () => {
  let zk: OwnZooKeeper;
  let fleet: Fleet;
  let receiver: Receiver;
  let session: Session;
  const zombies = new Map<ServiceName, Running>();
  const others = new Map<ServiceName, Running>();
  const successors = new Map<ServiceName, Running>();
  let first: BatchId;

  beforeAll(async () => {
    [zk, receiver] = await Promise.all([ownZooKeeper(), receiveCallbacks()]);
    fleet = await makeFleet({ zookeeper: zk.connect, callbackUrl: receiver.url, sessionMs: SESSION_MS, env: ENV });
    session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
    for (const service of PIPELINE_SERVICES) {
      const stops = { FAILPOINTS: `${service}.${LAST_STEP(service)}=stop#1` };
      const doomed = STOPPED_SERVICES.includes(service);
      (doomed ? zombies : others).set(service, await fleet.start(service, doomed ? stops : {}));
    }
    await Promise.all([...zombies.values(), ...others.values()].map((each) => untilReady(each)));
  });
  afterAll(async () => {
    await fleet.stop();
    await session.close();
    await Promise.all([zk.stop(), receiver.close()]);
  });

  const submit = (series: string): Promise<BatchId> =>
    fleet.submit((zombies.get("batch-intake") ?? others.get("batch-intake"))!, {
      payload_url: content.batchManifest(OBJECTS, series),
      type: "single-file-batch-manifest",
    });

  test("a second process of each stage finishes the work", async () => {
    first = await submit("first-");
    for (const [service, zombie] of zombies) {
      await untilStopped(zombie.child.pid, service);
      successors.set(service, await fleet.start(service));
    }
    expect(await untilReported(session, first)).toBe("Completed");
  });

  test("the woken ones lose what they had in hand, and get new sessions by themselves", async () => {
    await Promise.all([...zombies.values()].map(({ child }) => child.kill("SIGCONT")));
    await Promise.all([...zombies.values()].map((zombie) => untilReborn(zombie)));
    await Promise.all(JOB_SERVICES.map((service) => untilSettled(zombies.get(service)!, "lost")));
    await waitFor(async () => (await zombies.get("reporter")!.log()).includes("the batch is no longer ours"), {
      what: "the reporter's loss of its batch",
    });
    // What the zombies had not committed before they stopped, their successors did, each once.
    for (const service of JOB_SERVICES) {
      const done = await Promise.all([zombies, successors].map((of) => jobsSettled(of.get(service)!, "done")));
      expect([service, done[0]! + done[1]!]).toEqual([service, OBJECTS]);
    }
  });

  test("nothing was done twice", async () => {
    expect(await listBucket(session, first, "batch-completed")).toHaveLength(OBJECTS);
    const stored = await storedObjects(join(fleet.dataDir, "store"));
    expect(stored.map(({ head }) => head)).toEqual(Array.from({ length: OBJECTS }, () => "v1"));
    expect(inventoryCounts(join(fleet.dataDir, "inventory.db"))).toMatchObject({ objects: OBJECTS, versions: OBJECTS });
    // A callback may be sent again by the successor, with the same key: once is what the receiver makes of it.
    expect(new Set(receiver.keys).size).toBe(OBJECTS);
    expect(await mails(fleet.dataDir)).toEqual([`${first}.1.eml`]);
  });

  test("the former zombies do further work on their own", async () => {
    await Promise.all([...successors.values()].map(({ child }) => child.kill("SIGTERM")));
    const before = new Map<ServiceName, number>();
    for (const [service, zombie] of zombies) before.set(service, await jobsSettled(zombie, "done"));
    const second = await submit("second-");
    expect(await untilReported(session, second)).toBe("Completed");
    for (const service of JOB_SERVICES) {
      const done = (await jobsSettled(zombies.get(service)!, "done")) - before.get(service)!;
      expect([service, done]).toEqual([service, OBJECTS]);
    }
    expect(await storedObjects(join(fleet.dataDir, "store"))).toHaveLength(2 * OBJECTS);
    expect(await mails(fleet.dataDir)).toEqual([`${first}.1.eml`, `${second}.1.eml`]);
  });

  test("kept every invariant at every zxid", () => {
    const checked = checkInvariants({ logDir: zk.logDir, root: "/" });
    expect(checked.violations.map(describeViolation)).toEqual([]);
  });
});

describe("an intake stopped in the middle of an expansion, and woken after another one has finished it", () => {
  const ROWS = 60; // three chunks

  test("makes no job twice, and expands further batches", async () => {
    const zk = await testZooKeeper();
    const fleet = await makeFleet({ zookeeper: zk.connect, sessionMs: SESSION_MS, env: ENV });
    const session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
    try {
      const expanded = async (id: BatchId): Promise<number> =>
        await waitFor(
          async () => {
            const view = await readBatch(session, id);
            const expansion = view.kind === "found" ? view.value.expansion : null;
            return expansion !== null && expansion.created === expansion.rows ? expansion.created : null;
          },
          { what: `expansion of ${id}` },
        );
      const zombie = await fleet.start("batch-intake", { FAILPOINTS: "batch-intake.midEffect=stop#1" });
      await untilReady(zombie);
      const body = { payload_url: content.batchManifest(ROWS), type: "single-file-batch-manifest" };
      const id = await fleet.submit(zombie, body);
      await untilStopped(zombie.child.pid, "batch-intake");
      const successor = await fleet.start("batch-intake");
      expect(await expanded(id)).toBe(ROWS);

      await zombie.child.kill("SIGCONT");
      await untilReborn(zombie);
      await waitFor(async () => (await metric(zombie, "sluice_duty_runs_total", { outcome: "lost" })) > 0, {
        what: "the zombie's loss of the batch",
      });
      const jobs = (await readJobs(session, (await listBucket(session, id, "batch-processing")) ?? [])) ?? [];
      const urls = jobs.map((job) => (job.kind === "found" ? job.value.configuration.payload_url : ""));
      expect(urls.sort()).toEqual(Array.from({ length: ROWS }, (_, i) => content.file(i)).sort());

      await successor.child.kill("SIGTERM");
      expect(await expanded(await fleet.submit(zombie, body))).toBe(ROWS);
      const checked = checkInvariants({ logDir: zk.logDir, root: zk.root });
      expect(checked.violations.map(describeViolation)).toEqual([]);
    } finally {
      await session.close();
      await fleet.stop();
    }
  });
});
