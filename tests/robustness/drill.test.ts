/**
 * Goal: all of ZooKeeper's disks are lost under load, and nothing that was ever answered 2xx is: each deposit is stored and
 * recorded once, with its own bytes, each depositor is told once, and each job of the general queue ends once.
 * Method: a fleet of real processes, a snapshot while it works, more work, a ZooKeeper that is killed and whose disk is
 * wiped while submissions go on; then docs/backup.md, command by command. Everything outside the tree is counted.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkQueue } from "@sluice/job-queue";
import { type BatchUuid, findBatch, readBatch } from "@sluice/queue-core";
import {
  checkInvariants,
  describeViolation,
  type OwnZooKeeper,
  ownZooKeeper,
  readTransactions,
  serveHttp,
  waitFor,
} from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { sized } from "../support/campaign.ts";
import { sluice } from "../support/drill/command.ts";
import { bytesOf, type Deposits, fileOf, openDeposits } from "../support/drill/deposits.ts";
import { Figures } from "../support/drill/figures.ts";
import { openQueuedJobs, type QueuedJobs } from "../support/drill/queued-jobs.ts";
import { storedVersions } from "../support/drill/stored.ts";
import { inventoryCounts, mails } from "../support/effects.ts";
import { type Fleet, makeFleet, PIPELINE_SERVICES, readyz, type Running, untilReady } from "../support/fleet.ts";
import { OBSERVER_SESSION_MS } from "../support/watch.ts";

const EACH = sized({ smoke: 1, whole: 20 });
/** Under way at the snapshot, and at the disaster: fewer than a downloader works on at once. */
const HELD = sized({ smoke: 1, whole: 3 });
const SESSION_MS = 3_000;
const ENV = { POLL_INTERVAL_MS: "200", IDLE_POLL_INTERVAL_MS: "1000", SWEEP_INTERVAL_MS: "300" };
const numbered = (what: string): readonly string[] => Array.from({ length: EACH }, (_, n) => `${what}-${n}`);

let folder: string;
let zk: OwnZooKeeper;
let fleet: Fleet;
let deposits: Deposits;
let running: readonly Running[];
let jobs: QueuedJobs;
let receiver: Awaited<ReturnType<typeof serveHttp>>;
const calls: { readonly key: string; readonly body: string }[] = [];
const figures = new Figures();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-drill-"));
  [zk, deposits] = await Promise.all([ownZooKeeper(), openDeposits()]);
  receiver = await serveHttp(({ headers, body }, response) => {
    calls.push({ key: String(headers["idempotency-key"]), body });
    response.end();
  });
  fleet = await makeFleet({ zookeeper: zk.connect, callbackUrl: receiver.url, sessionMs: SESSION_MS, env: ENV });
  running = await startFleet();
  jobs = openQueuedJobs(service("job-api"));
  // It is ready before it has a session: its journal stands in.
  await waitFor(async () => (await intake().log()).includes("at work"), { what: "an intake at work" });
});
afterAll(async () => {
  await jobs.close();
  await fleet.stop();
  await Promise.all([zk.stop(), deposits.close(), receiver.close()]);
  await rm(folder, { recursive: true, force: true });
});

/** The job-api has the same journals again: its volume. */
async function startFleet(): Promise<readonly Running[]> {
  const jobApi = await fleet.start("job-api", { JOURNAL_DIR: join(fleet.dataDir, "job-journals") });
  return [...(await fleet.startAll(PIPELINE_SERVICES)), jobApi];
}

const service = (name: string): Running => running.find((each) => each.service === name)!;
const intake = (): Running => service("batch-intake");

async function observing<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

async function batchOf(session: Session, uuid: BatchUuid) {
  const id = await findBatch({ session }, uuid);
  const view = id === null ? null : await readBatch(session, id);
  return view?.kind === "found" ? view.value : null;
}

/** Every batch's depositor has been told. */
const untilTold = (names: readonly string[]): Promise<void> =>
  observing(async (session) => {
    for (const name of names) {
      const { uuid } = deposits.accepted.find((deposit) => deposit.name === name)!;
      await waitFor(async () => (await batchOf(session, uuid))?.status.status === "Completed", {
        what: `end of ${name}`,
      });
    }
  });

/** All of its jobs have ended, and nobody has told its depositor. */
const untilRecorded = (names: readonly string[]): Promise<void> =>
  observing(async (session) => {
    for (const name of names) {
      const { uuid } = deposits.accepted.find((deposit) => deposit.name === name)!;
      const isRecorded = async () => (await batchOf(session, uuid))?.counts["batch-completed"] === 1;
      await waitFor(isRecorded, { what: `the job of ${name}` });
    }
  });

async function acceptAll(what: string, how: "byUrl" | "byUpload"): Promise<readonly string[]> {
  const names = numbered(what);
  for (const name of names) await deposits[how](intake(), name);
  return names;
}

/** Their bytes come when the disaster is over. */
async function acceptHeld(what: string): Promise<void> {
  for (const name of numbered(what).slice(0, HELD)) {
    deposits.withhold(name);
    await deposits.byUrl(intake(), name);
  }
}

/** What docs/backup.md says, with this fleet's places. */
const places = () => ["--zookeeper", zk.connect, "--working-dir", join(fleet.dataDir, "queue")];
const inventoryPlace = () => ["--inventory", `sqlite:${join(fleet.dataDir, "inventory.db")}`];
const snapshot = () => join(folder, "tree.snapshot.gz");

/** A job that was told and that the snapshot does not have is done and told again, under its key: it ended at another time. */
const undated = (body: string): unknown =>
  JSON.parse(body, (field: string, value: unknown) => (field === "job:completionDate" ? "" : value));

describe("all of ZooKeeper's disks are lost", () => {
  test("a snapshot is taken under load, and work goes on behind it", async () => {
    const before = [...(await acceptAll("before", "byUrl")), ...(await acceptAll("before-upload", "byUpload"))];
    await untilTold(before);
    await acceptHeld("held");
    for (const name of numbered("early")) await jobs.make(name);
    for (const name of numbered("early-line")) await jobs.add(name);
    await jobs.work(EACH);
    const taken = await sluice(folder, "snapshot", snapshot(), "--while-moving", "--zookeeper", zk.connect);
    expect([taken.code, taken.err]).toEqual([0, expect.anything()]);
    figures.count("accepted before the snapshot", deposits.accepted.length);

    await untilTold([...(await acceptAll("told", "byUrl")), ...(await acceptAll("told-upload", "byUpload"))]);
    await service("reporter").child.kill("SIGKILL");
    await untilRecorded([
      ...(await acceptAll("recorded", "byUrl")),
      ...(await acceptAll("recorded-upload", "byUpload")),
    ]);
    await acceptHeld("begun");
    await acceptAll("last-upload", "byUpload");
    for (const name of numbered("later")) await jobs.make(name);
    for (const name of numbered("later-line")) await jobs.add(name);
    await jobs.work(EACH);
    await jobs.take();
    figures.count("jobs accepted before the disaster", jobs.accepted.size).count("jobs ended", jobs.ended.length);
    figures.count("accepted since", deposits.accepted.length - figures.of("accepted before the snapshot"));
    // The snapshot lacks them, and their depositors have their answers.
    expect(deposits.accepted.filter(({ journaled }) => journaled)).toEqual([]);
  });

  test("its disk is wiped: services refuse the empty tree, and go on accepting", async () => {
    figures.begin("from the disaster to the last service at work");
    await zk.kill("SIGKILL");
    await acceptAll("dead", "byUrl");
    await acceptAll("dead-upload", "byUpload");
    for (const name of numbered("dead-line")) await jobs.add(name);
    await cp(zk.logDir, join(folder, "first-history"), { recursive: true });
    await rm(zk.logDir, { recursive: true });
    await zk.restart();
    const others = running.filter(({ service: name }) => name !== "batch-intake" && name !== "reporter");
    for (const each of others)
      await waitFor(async () => (await each.log()).includes("waiting for the tree of this fleet"), {
        what: `${each.service} waiting`,
      });
    expect(await Promise.all(others.map(readyz))).toEqual(
      others.map(({ service: name }) => (name === "job-api" ? 200 : 503)),
    );
    expect(await readyz(intake())).toBe(200);
    await acceptAll("empty", "byUrl");
    await acceptAll("empty-upload", "byUpload");
    for (const name of numbered("empty-line")) await jobs.add(name);
    figures.count("journalled", deposits.accepted.filter(({ journaled }) => journaled).length);
    expect(figures.of("journalled")).toBe(4 * EACH);
    expect(await observing((session) => session.children("/"))).toMatchObject({ value: { names: ["zookeeper"] } });
  });

  test("the tree is restored by the commands of the docs, and what was lost between is made again", async () => {
    await Promise.all(running.map(({ child }) => child.kill("SIGTERM")));
    await Promise.all(running.map(({ child }) => child.exited));
    figures.begin("restore and lost");
    const parts = [...places(), ...inventoryPlace(), "--job-store", join(fleet.dataDir, "job-store")];
    const reason = ["--reason", "all disks were lost", "--yes"];
    const restored = await sluice(folder, "restore", snapshot(), ...parts, ...reason);
    expect([restored.code, restored.err]).toEqual([0, expect.stringContaining("valid again")]);
    figures.end("restore and lost");
    figures.count("lost between, told before", restored.out.match(/ended {2,}/g)?.length ?? 0);
    figures.count("lost between, made again", restored.out.match(/^made again/gm)?.length ?? 0);
    expect(figures.of("lost between, told before")).toBe(2 * EACH);
    expect(figures.of("lost between, made again")).toBe(3 * EACH + HELD);
    deposits.release();
    running = await startFleet();
    await Promise.all(running.map((each) => untilReady(each)));
    jobs.at(service("job-api"));
    figures.end("from the disaster to the last service at work");
  });

  test("every deposit that was accepted ends, and its depositor is told once", async () => {
    const told = [...numbered("told"), ...numbered("told-upload")];
    await untilTold(deposits.accepted.map(({ name }) => name).filter((name) => !told.includes(name)));
    figures.end("all deposits done");
    expect(await mails(fleet.dataDir)).toHaveLength(deposits.accepted.length);
    const keys = new Map(calls.map(({ key, body }) => [key, body]));
    expect(keys.size).toBe(deposits.accepted.length);
    for (const { key, body } of calls) expect(undated(keys.get(key)!)).toEqual(undated(body));
    figures.count("callbacks repeated under their key", calls.length - keys.size);
  });

  test("each is stored once with its own bytes, nobody else's, and recorded once", async () => {
    const stored = await storedVersions(join(fleet.dataDir, "store"));
    const wrong = stored.filter(({ name, bytes }) => !bytes.equals(bytesOf(name.replace(/\.txt$/, ""))));
    const names = stored.map(({ name }) => name).sort();
    figures.count("stored", stored.length).count("with other bytes", wrong.length);
    figures.count("doubled", stored.length - new Set(names).size);
    expect(wrong.map(({ name }) => name)).toEqual([]);
    expect(names).toEqual(deposits.accepted.map(({ name }) => fileOf(name)).sort());
    const { versions } = inventoryCounts(join(fleet.dataDir, "inventory.db"));
    figures.count("recorded", versions);
    expect(versions).toBe(deposits.accepted.length);
  });

  test("every job that was accepted ends once, as what it is", async () => {
    await jobs.workAll();
    figures.count("jobs accepted", jobs.accepted.size).count("jobs ended once", jobs.ended.length);
    expect(await jobs.faults()).toEqual([]);
    expect(jobs.ended).toHaveLength(jobs.accepted.size);
  });

  test("nothing is left over: lost, fsck and both logs are clean", async () => {
    const forgotten = await sluice(folder, "lost", ...places(), "--forget", "--reason", "they were told", "--yes");
    expect([forgotten.code, forgotten.err]).toEqual([0, expect.anything()]);
    const lost = await sluice(folder, "lost", ...places(), ...inventoryPlace());
    expect([lost.code, lost.out]).toEqual([0, ""]);
    const fsck = await sluice(folder, "fsck", ...places());
    expect([fsck.code, fsck.out]).toEqual([0, ""]);
    for (const logDir of [join(folder, "first-history"), zk.logDir]) {
      expect(checkInvariants({ logDir, root: "/" }).violations.map(describeViolation)).toEqual([]);
      expect(checkQueue(readTransactions(logDir)).map(({ invariant, detail }) => `${invariant}: ${detail}`)).toEqual(
        [],
      );
    }
    figures.print("all disks of ZooKeeper lost");
  });
});
