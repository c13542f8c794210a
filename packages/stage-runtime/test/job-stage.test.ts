import { jobId, paths } from "@sluice/queue-core";
import { readTransactions, touches } from "@sluice/testkit";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { done, fail, retry, snooze } from "../src/index.ts";
import { BATCH, downloading, World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

describe("a job stage", () => {
  test("works a job that was there before it, and moves it where the table says", async () => {
    const id = await world.addJob({ number: 1 });
    const { recorder } = world.start("downloader", [downloading(() => Promise.resolve(done({ spaceNeeded: 7 })))]);
    const [settled] = await recorder.settled();
    expect(settled).toMatchObject({ job: id, outcome: "done", to: "Processing" });
    expect(await world.status(id)).toMatchObject({ status: "Processing", last_successful_status: "Downloading" });
    expect(await world.children(paths.queue("Downloading"))).toEqual([]);
    expect(await world.children(paths.queue("Processing"))).toEqual([`10-${id}`]);
    expect(await world.data(paths.jobLock(id))).toBeNull();
    expect(String(await world.data(paths.jobSpaceNeeded(id)))).toBe("7");
  });

  test("is woken by its watch for a job that comes later", async () => {
    const { recorder } = world.start("downloader", [downloading(() => Promise.resolve(done()))], {
      IDLE_POLL_INTERVAL_MS: "600000",
    });
    await recorder.until("idle");
    const id = await world.addJob({ number: 1 });
    expect(await recorder.settled()).toMatchObject([{ job: id, outcome: "done" }]);
  });

  test("two workers race for the same jobs and each job is worked exactly once", async () => {
    const worked: string[] = [];
    const duty = downloading((job) => {
      worked.push(job.id);
      return Promise.resolve(done());
    });
    const ids = await world.addJobs(60);
    const a = world.start("downloader", [duty]);
    const b = world.start("downloader", [duty]);
    await Promise.race([a.recorder.until("idle"), b.recorder.until("idle")]);
    while (a.recorder.all("settled").length + b.recorder.all("settled").length < ids.length)
      await Promise.race([
        a.recorder.settled(a.recorder.all("settled").length + 1),
        b.recorder.settled(b.recorder.all("settled").length + 1),
      ]);
    expect(worked.sort()).toEqual([...ids].sort());
  });

  test("takes the smallest priority first", async () => {
    for (const [number, priority] of [
      [1, 50],
      [2, 10],
      [3, 90],
      [4, 0],
    ] as const)
      await world.addJob({ number, priority });
    const { recorder } = world.start("downloader", [downloading(() => Promise.resolve(done()))], {
      STAGE_CONCURRENCY: "1",
    });
    const settled = await recorder.settled(4);
    expect(settled.map(({ job }) => job)).toEqual([jobId(4), jobId(2), jobId(1), jobId(3)]);
  });

  test("fails a job with its code, tells the notifier and marks the batch due", async () => {
    const id = await world.addJob({ number: 1 });
    const { recorder } = world.start("downloader", [
      downloading(() => Promise.resolve(fail("DOWNLOAD_FAILED", "404"))),
    ]);
    await recorder.settled();
    expect(await world.status(id)).toMatchObject({ status: "Failed", message: "DOWNLOAD_FAILED: 404" });
    expect(await world.children(paths.callbacks)).toEqual([`${id}.0`]);
    expect(await world.children(paths.bucket(BATCH, "batch-failed"))).toEqual([id]);
    expect(await world.children(paths.dueBatches)).toEqual([BATCH]);
  });

  test("tries again after the delay, and gives up after the last attempt", async () => {
    const id = await world.addJob({ number: 1 });
    const attempts: number[] = [];
    const { recorder } = world.start(
      "downloader",
      [
        downloading((job) => {
          attempts.push(job.attempt);
          return Promise.resolve(retry("DOWNLOAD_FAILED", "connection refused", 5));
        }),
      ],
      { ATTEMPTS_MAX: "3" },
    );
    const settled = await recorder.settled(3);
    expect(settled.map(({ outcome }) => outcome)).toEqual(["retry", "retry", "fail"]);
    expect(attempts).toEqual([1, 2, 3]);
    expect((await world.status(id)).message).toBe("DOWNLOAD_FAILED: given up after 3 attempts: connection refused");
  });

  test("counts no attempt for a snooze, and says why the job waits", async () => {
    const id = await world.addJob({ number: 1 });
    const { recorder } = world.start("downloader", [
      downloading(() => Promise.resolve(snooze(60_000, "volume 99 % full"))),
    ]);
    await recorder.settled();
    expect(await world.fleetJob(id)).toMatchObject({ attempts: 0, why: "volume 99 % full", not_before: 60_000 });
    expect(await world.children(paths.queue("Downloading"))).toEqual([`10-${id}`]);
  });

  test("takes a throw for a passing failure", async () => {
    const id = await world.addJob({ number: 1 });
    const { recorder } = world.start("downloader", [downloading(() => Promise.reject(new Error("boom")))]);
    expect(await recorder.settled()).toMatchObject([{ job: id, outcome: "retry" }]);
    expect(await world.fleetJob(id)).toMatchObject({ attempts: 1, why: "UNEXPECTED: boom" });
  });

  test("quarantines a job whose workers died as often as attempts are allowed, without running it again", async () => {
    const id = await world.addJob({ number: 1, fleetJob: { attempts: 5 } });
    let ran = false;
    const { recorder } = world.start("downloader", [
      downloading(() => {
        ran = true;
        return Promise.resolve(done());
      }),
    ]);
    expect(await recorder.settled()).toMatchObject([{ outcome: "quarantine", to: "Failed" }]);
    expect((await world.status(id)).message).toBe("QUARANTINED: 5 attempts ended without an outcome: its workers died");
    expect(ran).toBe(false);
  });

  test("quarantines where the table knows no failure", async () => {
    const id = await world.addJob({ number: 1, state: "Estimating" });
    const { recorder } = world.start(
      "estimator",
      [{ kind: "job-stage", takes: "Estimating", handle: () => Promise.resolve(fail("UNEXPECTED", "no")) }],
      { ATTEMPTS_MAX: "1" },
    );
    expect(await recorder.settled()).toMatchObject([{ outcome: "quarantine", to: "Failed" }]);
    expect((await world.status(id)).message).toContain("QUARANTINED: given up after 1 attempt: UNEXPECTED");
  });

  test("removes a ghost entry that its job contradicts", async () => {
    const id = await world.addJob({ number: 1, state: "Recording" });
    await world.write([{ op: "create", path: paths.queueEntry("Downloading", 10, id), data: Buffer.alloc(0) }]);
    const { recorder } = world.start("downloader", [downloading(() => Promise.resolve(done()))]);
    await recorder.until("listed", 1, ({ entries }) => entries === 0);
    expect(await world.children(paths.queue("Recording"))).toEqual([`10-${id}`]);
    expect(recorder.all("claimed")).toEqual([]);
  });

  test("leaves such an entry to whoever has the job in hand: one without transactions is on its way from there", async () => {
    const id = await world.addJob({ number: 1, state: "Recording" });
    await world.write([{ op: "create", path: paths.queueEntry("Downloading", 10, id), data: Buffer.alloc(0) }]);
    await world.write([{ op: "create", path: paths.jobLock(id), data: Buffer.alloc(0), ephemeral: true }]);
    const { recorder } = world.start("downloader", [downloading(() => Promise.resolve(done()))]);
    const other = await world.addJob({ number: 2 });
    expect(await recorder.settled()).toMatchObject([{ job: other }]);
    expect(await world.children(paths.queue("Downloading"))).toEqual([`10-${id}`]);
  });
});

describe("write transactions per job and stage", () => {
  const moves = (): number =>
    [...readTransactions(world.zookeeper.logDir, world.zookeeper.root)].filter(
      (transaction) =>
        transaction.kind === "write" &&
        (touches(transaction, `${world.zookeeper.root}/jobs`) ||
          touches(transaction, `${world.zookeeper.root}/batches`)),
    ).length;

  test("a lone job costs two: its claim and its commit", async () => {
    const { recorder } = world.start("downloader", [downloading(() => Promise.resolve(done()))]);
    await recorder.until("idle");
    await world.addJob({ number: 1 });
    const before = moves();
    await recorder.settled();
    expect(moves() - before).toBeLessThanOrEqual(2);
  });

  test("500 waiting jobs cost at most 0.3 each with 50 in hand", async () => {
    await world.addJobs(500);
    const before = moves();
    const { recorder } = world.start("downloader", [downloading(() => Promise.resolve(done()))], {
      STAGE_CONCURRENCY: "50",
    });
    await recorder.settled(500);
    expect((moves() - before) / 500).toBeLessThanOrEqual(0.3);
  });
});
