/** The real process, killed by kill -9 between the callback and its commit. The receiver's ledger shows one effect per key. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Child, startChild } from "@sluice/local-parts";
import { type JobId, paths, readJob } from "@sluice/queue-core";
import {
  aBatchOfJobs,
  advance,
  claimJob,
  type TestWorker,
  testWorker,
  type TestZooKeeper,
  testZooKeeper,
  waitFor,
  numbered,
} from "@sluice/testkit";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answers, type Receiver, receiver } from "./support.ts";

const MAIN = fileURLToPath(new URL("../../../dist/programs/notifier.js", import.meta.url));

describe("a notifier killed between a callback and its commit", () => {
  let zk: TestZooKeeper;
  let folder: string;
  let server: Receiver;
  let intake: TestWorker;
  const children: Child[] = [];

  beforeEach(async () => {
    zk = await testZooKeeper();
    folder = await mkdtemp(join(tmpdir(), "sluice-notifier-"));
    server = await receiver(answers(200));
    intake = await testWorker(zk.connect, "batch-intake");
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.stop()));
    await Promise.all([intake.close(), server.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  async function writeProfile(name: string): Promise<void> {
    const lines = [
      `ProfileID: ${name}`,
      "Owner: ark:/99999/fk4owner",
      "Collection.1: ark:/99999/fk4collection",
      "Type: MRT-curatorial",
      "Role: MRT-content",
      `CallbackURL: http://${server.host}`,
    ];
    await writeFile(join(folder, name), lines.join("\n"));
  }

  async function start(failpoints: string): Promise<Child> {
    const child = await startChild({
      command: process.execPath,
      args: [MAIN],
      cwd: folder,
      logFile: join(folder, "notifier.log"),
      env: {
        ...process.env,
        ZOOKEEPER_CONNECT: zk.connect,
        ZK_SESSION_TIMEOUT_MS: "4000",
        PROFILES_DIR: folder,
        ALLOW_LOOPBACK: "true",
        METRICS_PORT: "0",
        POLL_INTERVAL_MS: "100",
        FAILPOINTS: failpoints,
      },
    });
    children.push(child);
    return child;
  }

  async function dieOnceAndComeBack(): Promise<void> {
    const doomed = await start("notifier.afterEffect=kill#1");
    expect(await doomed.exited).toBe("signal SIGKILL");
    await start("");
  }

  async function aJobIn(state: "Notify"): Promise<JobId> {
    const { jobs } = await aBatchOfJobs(intake, 1);
    const view = await readJob(intake.session, jobs[0]!);
    if (view.kind !== "found") throw new Error(view.kind);
    await writeProfile(view.value.configuration.profile_name);
    await advance(zk.connect, jobs[0]!, state);
    return jobs[0]!;
  }
  /** What a receiver does that keeps the contract: the second call under a key changes nothing. */
  const effects = async (): Promise<unknown[]> => {
    const keys = server.received.map(({ headers }) => numbered(intake.session, headers["idempotency-key"]));
    return [...new Set(await Promise.all(keys))];
  };

  test("tells of a completed job again under the same key", async () => {
    const job = await aJobIn("Notify");
    await dieOnceAndComeBack();
    await waitFor(async () => {
      const view = await readJob(intake.session, job);
      return view.kind === "found" && view.value.status.status === "Completed";
    });
    expect(server.received).toHaveLength(2);
    expect(server.received[1]!.body).toBe(server.received[0]!.body);
    expect(await effects()).toEqual([`${job}.COMPLETED.0`]);
  });

  test("tells of a failed job again under the same key, and then no more", async () => {
    const job = await aJobIn("Notify");
    const worker = await testWorker(zk.connect, "notifier");
    const failure = { kind: "fail", code: "CALLBACK_FAILED", message: "HTTP 404" } as const;
    await worker.jobs.commit(await claimJob(worker, "Notify", job), failure);
    await worker.close();
    await dieOnceAndComeBack();
    await waitFor(async () => {
      const left = await intake.session.children(paths.callbacks);
      return left.ok && left.value.names.length === 0;
    });
    expect(server.received).toHaveLength(2);
    expect(server.received[1]!.body).toBe(server.received[0]!.body);
    expect(await effects()).toEqual([`${job}.FAILED.0`]);
  });
});
