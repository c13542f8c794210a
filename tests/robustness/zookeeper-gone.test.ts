/**
 * Goal: an outage of ZooKeeper costs the time that it lasts, and nobody's attention: no process ends, none is restarted
 * by its liveness probe, what is submitted meanwhile is journaled and taken later, and work goes on by itself.
 * A tree that is another one than before is the exception: then every process ends, and says why.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@sluice/local-parts";
import { type BatchId, listBucket, paths, readBatch } from "@sluice/queue-core";
import {
  checkInvariants,
  describeViolation,
  type Ensemble,
  makeTree,
  openRawSession,
  type OwnZooKeeper,
  ownZooKeeper,
  startEnsemble,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { onlyWhole, sized } from "../support/campaign.ts";
import { type Content, serveContent } from "../support/content.ts";
import { inventoryCounts, mails, storedObjects } from "../support/effects.ts";
import {
  type Fleet,
  makeFleet,
  PIPELINE_SERVICES,
  PROFILE,
  readyz,
  type Running,
  untilReady,
} from "../support/fleet.ts";
import { untilReported } from "../support/watch.ts";

const OBJECTS = sized({ smoke: 20, whole: 60 });
const SESSION_MS = 3_000;
const OUTAGE_MS = 3 * SESSION_MS;
const ENV = { POLL_INTERVAL_MS: "200", IDLE_POLL_INTERVAL_MS: "1000" };
const EVERY_SERVICE = [...PIPELINE_SERVICES, "admin"] as const;
const NO_ZOOKEEPER = "no ZooKeeper session: trying again, no work until then";

let content: Content;
beforeAll(async () => {
  content = await serveContent();
});
afterAll(async () => {
  await content.close();
});

const livez = async ({ metricsUrl }: Running): Promise<number | null> =>
  (await fetch(`${metricsUrl}/livez`).catch(() => null))?.status ?? null;

async function untilNotReady(running: Running): Promise<void> {
  await waitFor(async () => (await readyz(running)) === 503, { what: `${running.service} not ready` });
}

/** Looks at /livez of all, round after round, until told to stop; answers with everything that was not 200. */
function watchLiveness(all: readonly Running[]): () => Promise<{ readonly looks: number; readonly bad: string[] }> {
  let watching = true;
  let looks = 0;
  const bad: string[] = [];
  const rounds = waitFor(async () => {
    for (const running of all) {
      const status = await livez(running);
      looks += 1;
      if (status !== 200) bad.push(`${running.service}: ${status ?? "no answer"}`);
    }
    return !watching;
  });
  return async () => {
    watching = false;
    await rounds;
    return { looks, bad };
  };
}

async function endedOf(all: readonly Running[]): Promise<readonly string[]> {
  const still = Promise.resolve(null);
  const reasons = await Promise.all(all.map(({ child }) => Promise.race([child.exited, still])));
  return reasons.flatMap((reason, i) => (reason === null ? [] : [`${all[i]!.service}: ${reason}`]));
}

const post = (intake: Running): Promise<Response> =>
  fetch(`${intake.url}/v1/batches`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ profile: PROFILE, submitter: "test", payload_url: content.file(1), type: "file" }),
  });

describe("a whole fleet in the middle of a batch", () => {
  let zk: OwnZooKeeper;
  let fleet: Fleet;
  let running: readonly Running[];
  let batches = 0;
  /** Submissions of one file each, taken while ZooKeeper was away. */
  let journals = 0;

  beforeAll(async () => {
    zk = await ownZooKeeper();
    fleet = await makeFleet({ zookeeper: zk.connect, sessionMs: SESSION_MS, env: ENV });
    running = await fleet.startAll(EVERY_SERVICE);
  });
  afterAll(async () => {
    await fleet.stop();
    await zk.stop();
  });

  /** Under way: some jobs are through, and one is not before `finish` is called. */
  async function batchInFlight(session: Session): Promise<{ readonly id: BatchId; readonly finish: () => void }> {
    const finish = content.withhold(OBJECTS - 1);
    const id = await fleet.submit(running[0]!, {
      payload_url: content.batchManifest(OBJECTS, `${++batches}-`),
      type: "single-file-batch-manifest",
    });
    await waitFor(async () => ((await listBucket(session, id, "batch-completed")) ?? []).length > 3, {
      what: "the first completed jobs",
    });
    const view = await readBatch(session, id);
    expect(view).toMatchObject({ value: { status: { status: "Processing" } } });
    return { id, finish };
  }

  /** It lasts until every process has noticed it, and at least so long. */
  async function outage(begin: () => Promise<void>, end: () => Promise<void>, lastsMs = OUTAGE_MS): Promise<void> {
    const stopWatching = watchLiveness(running);
    await begin();
    const beganMs = performance.now();
    const [intake, ...others] = running;
    await Promise.all(others.map((each) => untilNotReady(each)));
    const journaled = await post(intake!);
    expect([journaled.status, await readyz(intake!)]).toEqual([202, 200]);
    journals += 1;
    await waitFor(() => performance.now() - beganMs > lastsMs);
    for (const each of others) expect([each.service, await readyz(each)]).toEqual([each.service, 503]);
    await end();
    await Promise.all(running.map((each) => untilReady(each)));
    const { looks, bad } = await stopWatching();
    expect(bad).toEqual([]);
    expect(looks).toBeGreaterThan(running.length);
    expect(await endedOf(running)).toEqual([]);
  }

  async function finishes(id: BatchId): Promise<void> {
    const session = await connectSession({ connect: zk.connect, timeoutMs: 10_000 });
    expect(await untilReported(session, id)).toBe("Completed");
    expect(await listBucket(session, id, "batch-completed")).toHaveLength(OBJECTS);
    await session.close();
  }

  test("goes on by itself when ZooKeeper was dead for three session timeouts", async () => {
    const session = await connectSession({ connect: zk.connect, timeoutMs: 10_000 });
    const { id, finish } = await batchInFlight(session);
    await outage(
      () => zk.kill("SIGKILL"),
      () => zk.restart(),
    );
    finish();
    await session.close();
    for (const each of running)
      expect([each.service, await each.log()]).toEqual([each.service, mentions(NO_ZOOKEEPER)]);
    await finishes(id);
  });

  test("goes on by itself when ZooKeeper accepted connections and answered nothing", async () => {
    const session = await connectSession({ connect: zk.connect, timeoutMs: 10_000 });
    const { id, finish } = await batchInFlight(session);
    await outage(
      () => zk.kill("SIGSTOP"),
      () => zk.kill("SIGCONT"),
      sized({ smoke: 0, whole: OUTAGE_MS }),
    );
    finish();
    await session.close();
    await finishes(id);
  });

  test("did nothing twice on the way", async () => {
    const stored = await storedObjects(join(fleet.dataDir, "store"));
    const objects = batches * OBJECTS + journals;
    expect(stored.map(({ head }) => head)).toEqual(Array.from({ length: objects }, () => "v1"));
    expect(inventoryCounts(join(fleet.dataDir, "inventory.db"))).toMatchObject({ versions: objects });
    expect(await mails(fleet.dataDir)).toHaveLength(batches + journals);
  });

  test("kept every invariant at every zxid", () => {
    const checked = checkInvariants({ logDir: zk.logDir, root: "/" });
    expect(checked.violations.map(describeViolation)).toEqual([]);
  });
});

/** In small: “a worker whose old node is still there takes its place”, packages/stage-runtime/test/service.test.ts. */
describe("an ensemble whose leaders die", () => {
  const LEADER_KILLS_APART_MS = 7_000;
  const DEAD = { WORKER_ID: "downloader-that-dies" };
  const OTHERS = PIPELINE_SERVICES.filter((service) => service !== "downloader");
  let ensemble: Ensemble;
  let fleet: Fleet;
  let running: readonly Running[];
  let session: Session;

  async function killLeader(): Promise<OwnZooKeeper> {
    const leader = await waitFor(() => ensemble.leader(), { what: "a leader" });
    await leader.kill("SIGKILL");
    return leader;
  }

  async function submitted(prefix: string): Promise<BatchId> {
    const payload_url = content.batchManifest(OBJECTS, prefix);
    return await fleet.submit(running[0]!, { payload_url, type: "single-file-batch-manifest" });
  }

  onlyWhole("ends nobody, and claims begin at once after a full outage", async () => {
    ensemble = await startEnsemble();
    fleet = await makeFleet({ zookeeper: ensemble.connect, env: ENV });
    try {
      running = await fleet.startAll(OTHERS);
      const first = await fleet.start("downloader", DEAD);
      await untilReady(first);
      session = await connectSession({ connect: ensemble.connect, timeoutMs: 30_000 });

      await first.child.kill("SIGKILL");
      running = [...running, await fleet.start("downloader", DEAD)];
      const killed = await killLeader();
      const killedMs = performance.now();
      await killed.restart();
      await waitFor(() => performance.now() - killedMs >= LEADER_KILLS_APART_MS);
      const killedNext = await killLeader();
      await Promise.all(running.map((each) => untilReady(each)));
      expect(await untilReported(session, await submitted("leaders-"))).toBe("Completed");
      await killedNext.restart();
      expect(await endedOf(running)).toEqual([]);

      await Promise.all(ensemble.servers.map((server) => server.kill("SIGKILL")));
      await Promise.all(running.slice(1).map(untilNotReady));
      expect((await post(running[0]!)).status).toBe(202);
      const lengths = await Promise.all(running.map(async ({ log }) => (await log()).length));
      const lost = async (each: Running, from: number) => (await each.log()).slice(from).includes('"session":"lost"');
      await waitFor(async () => (await Promise.all(running.map((each, i) => lost(each, lengths[i]!)))).every(Boolean), {
        what: "the end of every session",
      });
      await Promise.all(ensemble.servers.map((server) => server.restart()));
      const later = await submitted("outage-");
      expect(await untilReported(session, later)).toBe("Completed");
      const logs = await Promise.all(running.map(async ({ log }, i) => (await log()).slice(lengths[i])));
      expect(logs.filter((log) => log.includes("cannot register yet"))).toEqual([]);
      expect(await endedOf(running)).toEqual([]);
      await session.close();
    } finally {
      await fleet.stop();
      await ensemble.stop();
    }
  });
});

const mentions = (text: string): unknown => expect.stringContaining(text);

describe("without a ZooKeeper at the start", () => {
  test("services say what they wait for, stay alive and not ready, and begin when it comes", async () => {
    const port = await freePort();
    const zookeeper = `127.0.0.1:${port}`;
    const fleet = await makeFleet({ zookeeper, sessionMs: SESSION_MS, env: ENV, tree: "none" });
    try {
      const running = await Promise.all((["batch-intake", "estimator", "admin"] as const).map((s) => fleet.start(s)));
      for (const each of running) {
        await waitFor(async () => (await each.log()).includes(NO_ZOOKEEPER), { what: `${each.service}'s complaint` });
        expect(await each.log()).toContain(`no ZooKeeper answers at 127.0.0.1:${port}`);
        expect([await livez(each), await readyz(each)]).toEqual([200, each.service === "batch-intake" ? 200 : 503]);
      }
      expect((await post(running[0]!)).status).toBe(202);
      const zk = await ownZooKeeper({ port });
      await makeTree(zookeeper);
      await Promise.all(running.map((each) => untilReady(each)));
      expect(await endedOf(running)).toEqual([]);
      expect((await post(running[0]!)).status).toBe(202);
      await zk.stop();
    } finally {
      await fleet.stop();
    }
  });
});

describe("a tree that is another one than before", () => {
  const EXIT_INTERNAL = "exit code 70";
  const REASON = "the tree is another one";
  const WAITS = "waiting for the tree of this fleet";

  async function namesIn(connect: string): Promise<readonly string[]> {
    const raw = await openRawSession(connect);
    const root = await raw.children("/");
    await raw.close();
    return root.ok ? root.value.names.filter((name) => name !== "zookeeper") : [root.detail];
  }

  /** An intake is ready before it has seen any tree: its journal stands in. */
  const untilAtWork = (running: Running): Promise<boolean> =>
    waitFor(async () => (await running.log()).includes("at work"), { what: `${running.service} at work` });

  async function expectLoudEnd(running: Running): Promise<void> {
    let reason: string | null = null;
    void running.child.exited.then((said) => (reason = said));
    expect(await waitFor(() => reason, { what: `end of ${running.service}` })).toBe(EXIT_INTERNAL);
    expect([running.service, await running.log()]).toEqual([running.service, mentions(REASON)]);
  }

  onlyWhole("ends every process when /fleet/id changes under it", async () => {
    const zk = await testZooKeeper();
    const fleet = await makeFleet({ zookeeper: zk.connect, sessionMs: SESSION_MS, env: ENV });
    try {
      const running = await fleet.startAll();
      await Promise.all(running.map(untilAtWork));
      const raw = await openRawSession(zk.connect);
      const changed = await raw.multi([{ op: "set", path: paths.fleetId, data: Buffer.from("restored"), version: 0 }]);
      expect(changed.ok).toBe(true);
      await raw.close();
      await Promise.all(running.map((each) => expectLoudEnd(each)));
    } finally {
      await fleet.stop();
    }
  });

  test("is not made anew where ZooKeeper came back empty: every process waits, and submissions are taken", async () => {
    const zk = await ownZooKeeper();
    const fleet = await makeFleet({ zookeeper: zk.connect, sessionMs: SESSION_MS, env: ENV });
    try {
      const running = await fleet.startAll(["batch-intake", "downloader", "admin"]);
      await Promise.all(running.map(untilAtWork));
      await zk.kill("SIGKILL");
      await rm(zk.logDir, { recursive: true });
      await zk.restart();
      for (const each of running) {
        await waitFor(async () => (await each.log()).includes(WAITS), { what: `${each.service}'s complaint` });
        expect(await each.log()).toMatch(/belongs to fleet \S+, epoch \d+\. ZooKeeper holds no fleet\./);
      }
      const [intake] = running as [Running];
      expect(await Promise.all(running.map(livez))).toEqual([200, 200, 200]);
      expect(await Promise.all(running.map(readyz))).toEqual([200, 503, 503]);
      expect((await post(intake)).status).toBe(202);
      expect(await namesIn(zk.connect)).toEqual([]);
      expect(await endedOf(running)).toEqual([]);
      const { fleet: other } = await makeTree(zk.connect);
      for (const each of running)
        await waitFor(async () => (await each.log()).includes(`ZooKeeper holds fleet ${other}`), {
          what: `${each.service}'s word about another fleet`,
        });
      expect(await endedOf(running)).toEqual([]);
    } finally {
      await fleet.stop();
      await zk.stop();
    }
  });
});
