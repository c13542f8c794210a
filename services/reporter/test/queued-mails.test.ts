/** The mail that a batch is being ingested: once, and before its report. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type Inventory, openInventory } from "@sluice/inventory";
import { batchFolder, type BatchId, markDueIfLast, paths, readBatch } from "@sluice/queue-core";
import { baseConfig, type Duty, readConfig, Service, silentLog } from "@sluice/stage-runtime";
import { aBatchOfJobs, advance, claimJob, type TestWorker, testWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { openWorkingFolder } from "@sluice/working-folder";
import { systemClock } from "@sluice/zookeeper";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reporterDuties } from "../src/duties.ts";
import { openMailer } from "../src/open-mailer.ts";
import { profilesOf, profileWith, QUICK_SETTINGS, specs } from "./support.ts";

let connect: string;
let folder: string;
let intake: TestWorker;
let inventory: Inventory;
/** In the order in which they were sent. */
let sent: string[];
let running: { readonly service: Service; readonly ended: Promise<number> }[];
let started = 0;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  folder = await mkdtemp(join(tmpdir(), "sluice-reporter-"));
  intake = await testWorker(connect, "batch-intake");
  inventory = await openInventory({ kind: "sqlite", file: join(folder, "inventory.db") });
  [sent, running] = [[], []];
});
afterEach(async () => {
  await stopReporters();
  await Promise.all([intake.close(), inventory.close()]);
  await rm(folder, { recursive: true, force: true });
});

async function stopReporters(): Promise<void> {
  for (const { service, ended } of running.splice(0)) {
    service.ring();
    await ended;
  }
}

async function startReporter({
  failpoints = "",
  only = () => true,
}: { failpoints?: string; only?: (duty: Duty) => boolean } = {}): Promise<void> {
  const env = { ZOOKEEPER_CONNECT: connect, METRICS_PORT: "0", POLL_INTERVAL_MS: "50", IDLE_POLL_INTERVAL_MS: "200" };
  const read = readConfig(baseConfig, { ...env, FAILPOINTS: failpoints, WORKER_ID: `reporter-${++started}` });
  if (!read.ok) throw new Error(read.problems.join());
  const queueDir = join(folder, "queue");
  const settings = { WORKING_DIR: queueDir, RETENTION_DAYS: 7, ...QUICK_SETTINGS };
  const folders = await openWorkingFolder(queueDir);
  const outbox = openMailer(`outbox:${join(folder, "outbox")}`, {
    from: "sluice@sluice.example",
    replyTo: null,
    bcc: [],
  });
  const send: typeof outbox.send = (mail) => {
    sent.push(mail.name.split(".").at(-1) ?? "");
    return outbox.send(mail);
  };
  const profiles = profilesOf(profileWith(["Notification.1: anna@example.org"]));
  const postman = { profiles, mailer: { ...outbox, send }, subjectTag: "" };
  const service = new Service(
    {
      service: "reporter",
      config: read.config,
      duties: ({ queue }) =>
        reporterDuties(settings, {
          postman,
          folders,
          archive: inventory,
          queue: () => queue()?.context ?? null,
        }).filter(only),
    },
    { clock: systemClock, random: Math.random, log: silentLog(), probe: () => undefined },
  );
  running.push({ service, ended: service.run() });
}

const untilStatus = (id: BatchId, status: string) =>
  waitFor(
    async () => {
      const view = await readBatch(intake.session, id);
      return view.kind === "found" && view.value.status.status === status;
    },
    { what: `${id} ${status}` },
  );

async function aBatchToTellOf(count: number) {
  const { batch, jobs } = await aBatchOfJobs(intake, specs(count));
  const name = batchFolder({ batchId: batch, batchEpoch: intake.identity.epoch });
  const end = async (): Promise<void> => {
    const notifier = await testWorker(connect, "notifier");
    for (const id of jobs) {
      await advance(connect, id, "Notify");
      await notifier.jobs.commit(await claimJob(notifier, "Notify", id), { kind: "done", changes: {} });
    }
    await markDueIfLast(notifier.ctx, batch);
    await notifier.close();
  };
  return { batch, name, end };
}

test.each(["nothing", "afterEffect"])("is sent once, stumbling at %s", async (step) => {
  const { batch, name, end } = await aBatchToTellOf(2);
  await startReporter({ failpoints: `reporter.${step}=throw#1` });
  await waitFor(() => existsSync(join(folder, "queue", name, "mail-queued.sent")), { what: "the mark" });
  const mail = await readFile(join(folder, "outbox", `${name}.queued.eml`), "utf8");
  expect(mail).toContain("Subject: Ingest: OK -- Submission Queued:");
  expect(mail).toContain("2 objects are being ingested");
  await stopReporters();
  await rm(join(folder, "outbox"), { recursive: true });
  await startReporter();
  await end();
  await untilStatus(batch, "Completed");
  expect(await readdir(join(folder, "outbox"))).toEqual([`${name}.1.eml`]);
});

test("is sent also when the batch has ended first, and before its report, by whichever of two reporters", async () => {
  const { batch, end } = await aBatchToTellOf(1);
  await end();
  await startReporter({ only: (duty) => !(duty.kind === "inbox" && duty.name === "queued-mails") });
  await untilStatus(batch, "Reporting");
  expect(sent).toEqual([]);
  await startReporter();
  await startReporter();
  await untilStatus(batch, "Completed");
  expect(sent).toEqual(["queued", "1"]);
  expect(await intake.session.children(paths.queuedMails)).toMatchObject({ value: { names: [] } });
});
