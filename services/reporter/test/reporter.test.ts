import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  actOnBatch,
  actOnJob,
  batchFolder,
  type BatchId,
  batchUuidFromRandom,
  createBatch,
  failureMessage,
  jobFolder,
  type JobId,
  makeIdBlocks,
  markDueIfLast,
  openReport,
  orderCleanUp,
  parseBatchUuid,
  paths,
  readBatch,
  records,
  resumeJob,
  setHold,
} from "@sluice/queue-core";
import { baseConfig, type Duty, type Probe, readConfig, Service, silentLog } from "@sluice/stage-runtime";
import {
  aBatchOfJobs,
  advance,
  aSubmission,
  checkInvariants,
  claimJob,
  describeViolation,
  type TestWorker,
  testWorker,
  type TestZooKeeper,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { type Inventory, openInventory } from "@sluice/inventory";
import { openAcceptedBatches, openWorkingFolder } from "@sluice/working-folder";
import { systemClock } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Archive } from "../src/archive.ts";
import { reporterDuties } from "../src/duties.ts";
import { openMailer } from "../src/open-mailer.ts";
import { aJobRunner, QUICK_SETTINGS, profilesOf, profileWith, putFile, specs } from "./support.ts";

const OPERATOR = { name: "olga", reason: "because" };
const LETTERHEAD = { from: "sluice@sluice.example", replyTo: null, bcc: [] };

describe("the reporter on a real tree", () => {
  let zk: TestZooKeeper;
  let folder: string;
  let intake: TestWorker;
  let operator: TestWorker;
  let inventory: Inventory;
  let running: { service: Service; ended: Promise<number> }[];
  let cleaners: string[];

  beforeEach(async () => {
    zk = await testZooKeeper();
    folder = await mkdtemp(join(tmpdir(), "sluice-reporter-"));
    intake = await testWorker(zk.connect, "batch-intake");
    operator = await testWorker(zk.connect, "operator", { register: false });
    inventory = await openInventory({ kind: "sqlite", file: join(folder, "inventory.db") });
    running = [];
    cleaners = [];
  });
  afterEach(async () => {
    await stopReporters();
    await Promise.all([intake.close(), operator.close(), inventory.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  const queueDir = (): string => join(folder, "queue");
  const outbox = (): string => join(folder, "outbox");
  const mails = async (): Promise<readonly string[]> =>
    (await readdir(outbox()).catch(() => [])).filter((name) => name.endsWith(".eml")).sort();

  /** Of batches that the intake made. */
  const folderOf = (batch: BatchId): string => batchFolder({ batchId: batch, batchEpoch: intake.identity.epoch });

  async function stopReporters(): Promise<void> {
    for (const { service, ended } of running.splice(0)) {
      service.ring();
      await ended;
    }
  }

  /** The reporter as its process runs it, but for the process. */
  async function startReporter(
    overrides: {
      retentionDays?: number;
      failpoints?: string;
      only?: (duty: Duty) => boolean;
      archive?: Archive;
    } = {},
  ): Promise<void> {
    const read = readConfig(baseConfig, {
      ZOOKEEPER_CONNECT: zk.connect,
      METRICS_PORT: "0",
      POLL_INTERVAL_MS: "50",
      IDLE_POLL_INTERVAL_MS: "200",
      FAILPOINTS: overrides.failpoints ?? "",
      WORKER_ID: `reporter-${randomBytes(4).toString("hex")}`,
    });
    if (!read.ok) throw new Error(read.problems.join());
    const settings = {
      WORKING_DIR: queueDir(),
      RETENTION_DAYS: overrides.retentionDays ?? 7,
      ...QUICK_SETTINGS,
    };
    const folders = await openWorkingFolder(queueDir());
    const mailer = openMailer(`outbox:${outbox()}`, LETTERHEAD);
    const profiles = profilesOf(profileWith(["Notification.1: anna@example.org", "NotificationSuppression: partial"]));
    const probe: Probe = () => undefined;
    const service = new Service(
      {
        service: "reporter",
        config: read.config,
        duties: ({ queue }) =>
          reporterDuties(settings, {
            postman: { profiles, mailer, subjectTag: "" },
            folders,
            archive: { ...inventory, ...overrides.archive },
            queue: () => queue()?.context ?? null,
            onCleaner: (who) => cleaners.push(who),
          }).filter(overrides.only ?? (() => true)),
      },
      { clock: systemClock, random: Math.random, log: silentLog(), probe },
    );
    running.push({ service, ended: service.run() });
  }

  async function end(id: JobId, how: "done" | "fail"): Promise<void> {
    await advance(zk.connect, id, "Notify");
    const notifier = await testWorker(zk.connect, "notifier");
    const loaded = await claimJob(notifier, "Notify", id);
    const ending =
      how === "done"
        ? ({ kind: "done", changes: {} } as const)
        : ({ kind: "fail", code: "CALLBACK_FAILED", message: "HTTP 404" } as const);
    await notifier.jobs.commit(loaded, ending);
    await markDueIfLast(notifier.ctx, loaded.job.batchId);
    await notifier.close();
  }

  const statusOf = async (id: BatchId): Promise<string> => {
    const view = await readBatch(operator.session, id);
    return view.kind === "found" ? view.value.status.status : view.kind;
  };
  const untilStatus = (id: BatchId, status: string) =>
    waitFor(async () => (await statusOf(id)) === status, { what: `${id} ${status}` });
  const untilEmpty = (path: string) =>
    waitFor(
      async () => {
        const listed = await operator.session.children(path);
        return listed.ok && listed.value.names.length === 0;
      },
      { what: `${path} empty` },
    );
  const fileOf = (batchId: BatchId, id: JobId): Promise<void> =>
    putFile(join(queueDir(), jobFolder({ id, batchId, batchEpoch: intake.identity.epoch })));
  const violations = (): readonly string[] =>
    checkInvariants({
      logDir: zk.logDir,
      root: zk.root,
      roles: new Map([[operator.session.id, "operator"]]),
    }).violations.map(describeViolation);

  test("reports a batch once, files its report, and clears its jobs away", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, specs(2));
    await Promise.all(jobs.map((job) => fileOf(batch, job)));
    await startReporter();
    for (const job of jobs) await end(job, "done");

    await untilStatus(batch, "Completed");
    await untilEmpty(paths.queue("Completed"));
    expect(await mails()).toEqual([`${folderOf(batch)}.1.eml`]);
    const mail = await readFile(join(outbox(), `${folderOf(batch)}.1.eml`), "utf8");
    expect(mail).toContain("Subject: Ingest: OK -- Submission Processed:");
    expect(mail).toContain("All 2 objects of this submission were ingested.");
    expect(mail).toContain("etd-0");
    const view = await readBatch(operator.session, batch);
    expect(view).toMatchObject({
      value: { report: { failed_jobs: [], successful_jobs: jobs }, expansion: { reports: 1 } },
    });
    expect(await readdir(join(queueDir(), folderOf(batch)))).toEqual(["mail-1.sent"]);
    expect(violations()).toEqual([]);
  });

  test("reports again when an operator asks: only what was mended, and nothing if nothing was", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, specs(3));
    await startReporter();
    await end(jobs[0]!, "done");
    await end(jobs[1]!, "fail");
    await end(jobs[2]!, "fail");
    await untilStatus(batch, "Failed");

    expect(await actOnBatch(operator.ctx, OPERATOR, "update-reporting", batch)).toEqual({ kind: "applied" });
    await waitFor(async () => {
      const view = await readBatch(operator.session, batch);
      return view.kind === "found" && view.value.expansion?.reports === 2;
    });
    expect(await mails()).toEqual([`${folderOf(batch)}.1.eml`]);

    expect(await resumeJob(operator.ctx, OPERATOR, jobs[1]!)).toMatchObject({ kind: "applied" });
    const notifier = await testWorker(zk.connect, "notifier");
    await notifier.jobs.commit(await claimJob(notifier, "Notify", jobs[1]!), { kind: "done", changes: {} });
    await notifier.close();
    expect(await actOnBatch(operator.ctx, OPERATOR, "update-reporting", batch)).toEqual({ kind: "applied" });
    await waitFor(async () => (await mails()).length === 2);
    const update = await readFile(join(outbox(), `${folderOf(batch)}.3.eml`), "utf8");
    expect(update).toContain("Since the last report 1 object was ingested; 1 object still failed.");
    await untilStatus(batch, "Failed");
    expect(violations()).toEqual([]);
  });

  test("tells the depositor of a batch that never became jobs, once", async () => {
    const uuid = batchUuidFromRandom(randomBytes(16));
    const made = await createBatch(intake.ctx, makeIdBlocks(intake.ctx), { uuid, submission: aSubmission(), epoch: 1 });
    if (made.kind !== "created") throw new Error(made.kind);
    const claim = await intake.batches.claim("Pending", made.id);
    if (claim.kind !== "acquired") throw new Error(claim.kind);
    await intake.batches.settle(claim.loaded, {
      kind: "fail",
      code: "MANIFEST_CORRUPT",
      message: "row 3: no file name",
    });
    await startReporter();

    await waitFor(async () => {
      const view = await readBatch(operator.session, made.id);
      return view.kind === "found" && view.value.report !== null;
    });
    const mail = await readFile(join(outbox(), `${made.id}.0.eml`), "utf8");
    expect(mail).toContain(failureMessage("MANIFEST_CORRUPT", "row 3: no file name"));
    expect(await statusOf(made.id)).toBe("Failed");
    expect(await mails()).toEqual([`${made.id}.0.eml`]);
    expect(violations()).toEqual([]);
  });

  test("finds a batch whose last worker died before it could say so", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, specs(1));
    await end(jobs[0]!, "done");
    await operator.session.multi([{ op: "delete", path: paths.dueBatch(batch), version: 0 }]);
    await startReporter();
    await untilStatus(batch, "Completed");
    expect(await mails()).toEqual([`${folderOf(batch)}.1.eml`]);
  });

  test("does not report a batch that was marked as due too early", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, specs(2));
    await end(jobs[0]!, "done");
    await operator.session.multi([{ op: "create", path: paths.dueBatch(batch), data: Buffer.alloc(0) }]);
    await startReporter();
    await untilEmpty(paths.queue("Completed"));
    expect(await openReport(operator.ctx, batch)).toMatchObject({ kind: "shut" });
    expect(await mails()).toEqual([]);
    await end(jobs[1]!, "done");
    await untilStatus(batch, "Completed");
  });

  test("takes the jobs and folders of a deleted batch away, and in the end the batch itself, but not its key", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, specs(2));
    await Promise.all(jobs.map((job) => fileOf(batch, job)));
    await startReporter({ retentionDays: 0, only: (duty) => duty.kind !== "sweep" });
    for (const job of jobs) await end(job, "fail");
    await untilStatus(batch, "Failed");
    expect(await actOnJob(operator.ctx, OPERATOR, "delete", jobs[0]!)).toEqual({ kind: "applied" });
    const uuid = (await readBatch(operator.session, batch)) as { value: { submission: { batchID: string } } };
    expect(await actOnBatch(operator.ctx, OPERATOR, "delete", batch)).toEqual({ kind: "applied" });
    const accepted = await openAcceptedBatches(queueDir());
    const name = parseBatchUuid(uuid.value.submission.batchID)!;
    await accepted.put({ uuid: name, place: { batchId: batch, batchEpoch: 1 }, submission: aSubmission() });
    await stopReporters();
    await startReporter({ retentionDays: 0 });
    await waitFor(async () => (await statusOf(batch)) === "none" && !(await accepted.has(name)));
    await waitFor(async () => (await readdir(queueDir())).every((each) => ["recycled", ".accepted"].includes(each)));
    await waitFor(async () => (await readdir(join(queueDir(), "recycled"))).length === 0);
    for (const directory of [
      paths.queue("Deleted"),
      paths.fleetJobs,
      paths.fleetBatchQueue("Deleted"),
      paths.expansions,
      paths.batchUuids,
    ])
      await untilEmpty(directory);
    const days = await operator.session.children(paths.keys);
    const day = days.ok ? days.value.names[0]! : "";
    const key = await operator.session.get(`${paths.keys}/${day}/${uuid.value.submission.batchID}`);
    expect(key.ok && records.key.decode(key.value.data)).toMatchObject({ value: { batch } });
    expect(await inventory.findArchivedBatch(batch)).toMatchObject({
      value: { uuid: uuid.value.submission.batchID, outcome: { status: "Deleted" }, jobCounts: { Deleted: 2 } },
    });
    expect(violations()).toEqual([]);
  });

  test("archives submission, report, outcomes and events before a batch goes", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, specs(2));
    await startReporter({ retentionDays: 0 });
    for (const job of jobs) await end(job, "done");
    await waitFor(async () => (await statusOf(batch)) === "none", { what: "the batch is gone" });
    const found = await inventory.findArchivedBatch(batch);
    expect(found).toMatchObject({
      value: {
        id: batch,
        outcome: { status: "Completed" },
        submission: { profile_name: expect.any(String) },
        reports: [{ failed_jobs: [], successful_jobs: jobs }],
        jobCounts: { Completed: 2 },
      },
    });
    expect(await inventory.findArchivedJob(jobs[1]!)).toMatchObject({
      value: {
        outcome: { status: "Completed" },
        configuration: { payload_name: "thesis-1.pdf" },
        identifiers: { local_id: ["etd-1"] },
        events: expect.arrayContaining([expect.arrayContaining(["done", "Notify"])]),
      },
    });
  });

  test("cleans up before its time what an operator orders, archived like all others, also under a pause", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, specs(2));
    await startReporter({ retentionDays: 7 });
    for (const job of jobs) await end(job, "done");
    await untilStatus(batch, "Completed");
    const who = { name: "olga", reason: "a test deposit" };
    expect(await setHold(operator.ctx, who, { kind: "queue" })).toEqual({ kind: "applied" });
    expect(await orderCleanUp(operator.ctx, who, batch)).toEqual({ kind: "applied" });
    await untilEmpty(paths.cleanUps);
    expect(await statusOf(batch)).toBe("none");
    expect(await inventory.findArchivedBatch(batch)).toMatchObject({ value: { jobCounts: { Completed: 2 } } });
    expect(violations()).toEqual([]);
  });

  test("leaves looking for old batches to a job-runner that runs the fleet's own jobs, while one lives", async () => {
    const runner = await aJobRunner(zk.connect, "does-its-work");
    const { batch, jobs } = await aBatchOfJobs(intake, specs(1));
    await startReporter({ retentionDays: 0 });
    await end(jobs[0]!, "done");
    await untilStatus(batch, "Completed");
    const looks = cleaners.length;
    await waitFor(() => cleaners.length >= looks + 2, { what: "it looked twice more" });
    expect(await statusOf(batch)).toBe("Completed");
    expect(new Set(cleaners)).toEqual(new Set(["job-runner"]));
    await runner.leave();
    await waitFor(async () => (await statusOf(batch)) === "none", { what: "the batch is gone" });
    expect(cleaners.at(-1)).toBe("reporter");
  });

  test("keeps a batch that cannot be archived, until it can", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, specs(1));
    let asked = 0;
    let isAway = true;
    const archive: Archive = {
      archiveBatch: (given) => {
        asked += 1;
        return isAway ? Promise.resolve({ kind: "unavailable", message: "away" }) : inventory.archiveBatch(given);
      },
    };
    await startReporter({ retentionDays: 0, archive });
    await end(jobs[0]!, "done");
    await waitFor(() => asked >= 2, { what: "two tries" });
    expect(await statusOf(batch)).toBe("Completed");
    isAway = false;
    await waitFor(async () => (await statusOf(batch)) === "none", { what: "the batch is gone" });
    expect(await inventory.findArchivedBatch(batch)).toMatchObject({ value: { jobCounts: { Completed: 1 } } });
  });

  test.each(["afterArchive", "afterRecycle", "afterCleanUp"])(
    "cleans up and archives once, stumbling at %s",
    async (step) => {
      const { batch, jobs } = await aBatchOfJobs(intake, specs(2));
      await startReporter({ retentionDays: 0, failpoints: `reporter.${step}=throw#1` });
      for (const job of jobs) await end(job, "done");
      await waitFor(async () => (await statusOf(batch)) === "none", { what: "the batch is gone" });
      expect(await inventory.findArchivedBatch(batch)).toMatchObject({ value: { jobCounts: { Completed: 2 } } });
      await waitFor(async () => (await readdir(join(queueDir(), "recycled"))).length === 0);
    },
  );

  test("that stumbles between the mail and the verdict sends no second mail", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, specs(1));
    await startReporter({ failpoints: "reporter.afterEffect=throw#1" });
    await end(jobs[0]!, "done");
    await untilStatus(batch, "Completed");
    expect(await mails()).toEqual([`${folderOf(batch)}.1.eml`]);
    expect(await readBatch(operator.session, batch)).toMatchObject({ value: { expansion: { reports: 1 } } });
  });

  test("two of them report a batch once", async () => {
    await startReporter();
    await startReporter();
    const batches = await Promise.all(Array.from({ length: 5 }, () => aBatchOfJobs(intake, specs(1))));
    await Promise.all(batches.map(({ jobs }) => end(jobs[0]!, "done")));
    for (const { batch } of batches) await untilStatus(batch, "Completed");
    expect(await mails()).toEqual(batches.map(({ batch }) => `${folderOf(batch)}.1.eml`).sort());
    for (const { batch } of batches)
      expect(await readBatch(operator.session, batch)).toMatchObject({ value: { expansion: { reports: 1 } } });
    expect(violations()).toEqual([]);
  });
});
