/** Batches and jobs that have left the queue: shown from the archive, to those who might have seen them there. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Inventory, openInventory } from "@sluice/inventory";
import { type JobId, jobUuid } from "@sluice/queue-core";
import { aBatchOfJobs, aJobSpec, aSubmission, testWorker, testZooKeeper } from "@sluice/testkit";
import { ADMIN, BatchDetail, JobDetail } from "@sluice/wire";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aTokenFor, COLLECTION, refusalOf, startAdmin, type TestAdmin, valueOf } from "./support.ts";

const BID = "bid0000000901";
const UUID = "bid-2c7f8a52-93b4-4f7e-8a07-0d1f1b0e6a11";
const [FIRST, SECOND] = ["jid0000009001", "jid0000009002"] as const;
const [otherToken, otherRecord] = aTokenFor("depositor", ["other_content"], "other");
const WHEN = "2026-01-02 03:04:05 +0000";

let admin: TestAdmin;
let connect: string;
let archive: Inventory;
let folder: string;

const aJob = (id: string, status: string) => ({
  id,
  uuid: jobUuid(id as JobId, "then"),
  outcome: { status, last_modified: WHEN, last_successful_status: "Recording", retry_count: 0, message: "" },
  configuration: { ...aJobSpec().configuration, batch_id: BID, profile_name: COLLECTION },
  identifiers: null,
  metadata: null,
  inventory: null,
  events: [["op", 1_767_323_045, "done", "Notify", "notifier-1", "", "2"]],
});

const aBatch = (id: string, uuid: string, jobs: readonly ReturnType<typeof aJob>[]) => ({
  id,
  uuid,
  outcome: { status: "Completed", last_modified: WHEN, message: "", reports: 1 },
  profile: COLLECTION,
  submitter: "ada",
  submission: { ...aSubmission({ batchID: uuid, profile_name: COLLECTION, notification: "ada@example.org" }) },
  reports: [],
  archivedAt: "2026-01-09 03:04:05 +0000",
  jobs: [jobs],
});

beforeAll(async () => {
  ({ connect } = await testZooKeeper());
  folder = await mkdtemp(join(tmpdir(), "sluice-archive-"));
  archive = await openInventory({ kind: "sqlite", file: join(folder, "inventory.db") });
  await archive.archiveBatch(aBatch(BID, UUID, [aJob(FIRST, "Completed"), aJob(SECOND, "Deleted")]));
  admin = await startAdmin(connect, { outside: { archive }, more: [otherRecord] });
});
afterAll(async () => {
  await admin.stop();
  await archive.close();
  await rm(folder, { recursive: true, force: true });
});

test.each([BID, UUID])("a batch that has left the queue is shown as %s, and offers nothing to do", async (id) => {
  const batch = valueOf(await admin.as("depositor").call(ADMIN.batch, { params: { id } }));
  expect(BatchDetail.parse(batch)).toEqual(batch);
  expect(batch).toMatchObject({
    id: UUID,
    bid: BID,
    status: "Completed",
    counts: { processing: 0, failed: 0, completed: 1, deleted: 1 },
    notification: "ada@example.org",
    actions: [],
    hold: null,
    archived: true,
    archived_at: "2026-01-09T03:04:05.000Z",
  });
});

test("so is a job of it, by either id", async () => {
  const viewer = admin.as("viewer");
  const job = valueOf(await viewer.call(ADMIN.job, { params: { id: FIRST } }));
  expect(JobDetail.parse(job)).toEqual(job);
  expect(job).toMatchObject({
    jid: FIRST,
    bid: BID,
    status: "Completed",
    archived: true,
    actions: [],
    resume_at: null,
  });
  const named = await viewer.call(ADMIN.job, { params: { id: jobUuid(FIRST as JobId, "then") } });
  expect(valueOf(named)).toEqual(job);
});

test("and the list of its jobs, in pages and by outcome", async () => {
  const viewer = admin.as("viewer");
  const ask = async (query: { limit?: number; cursor?: string; outcome?: "deleted" }) =>
    valueOf(await viewer.call(ADMIN.batchJobs, { params: { id: UUID }, query }));
  const first = await ask({ limit: 1 });
  expect(first.items.map(({ jid }) => jid)).toEqual([FIRST]);
  const second = await ask({ limit: 1, cursor: first.next_cursor! });
  expect(second).toMatchObject({ items: [{ jid: SECOND }], next_cursor: null });
  expect((await ask({ outcome: "deleted" })).items.map(({ jid }) => jid)).toEqual([SECOND]);
});

test("its stream says it once, and ends", async () => {
  const told: boolean[] = [];
  for await (const event of admin.as("viewer").events(ADMIN.batchEvents, { params: { id: BID } })) {
    told.push(valueOf(event).archived);
  }
  expect(told).toEqual([true]);
});

test("who is bound to other collections learns of none of it", async () => {
  const other = admin.withToken(otherToken);
  for (const answer of [
    await other.call(ADMIN.batch, { params: { id: BID } }),
    await other.call(ADMIN.job, { params: { id: FIRST } }),
    await other.call(ADMIN.batchJobs, { params: { id: BID } }),
  ]) {
    expect(refusalOf(answer)).toMatchObject({ status: 404 });
  }
});

test("what is in the queue is answered by the queue", async () => {
  const intake = await testWorker(connect, "batch-intake");
  const { batch: id, jobs } = await aBatchOfJobs(intake, [aJobSpec()]);
  await archive.archiveBatch(aBatch(id, `${UUID.slice(0, -1)}2`, [aJob(jobs[0]!, "Completed")]));
  const viewer = admin.as("viewer");
  expect(valueOf(await viewer.call(ADMIN.batch, { params: { id } }))).toMatchObject({ archived: false });
  expect(valueOf(await viewer.call(ADMIN.job, { params: { id: jobs[0]! } }))).toMatchObject({ archived: false });
  await intake.close();
});

test("an archive that does not answer is no proof that there is nothing", async () => {
  const away = () => Promise.resolve({ kind: "unavailable", message: "away" } as const);
  const batches = { findArchivedBatch: away, findArchivedJob: away, listArchivedJobs: away };
  const silent = { ...batches, listAudit: away, listAuditAnchors: away, leftAudit: away };
  const deaf = await startAdmin((await testZooKeeper()).connect, { outside: { archive: silent } });
  const answer = await deaf.as("viewer").call(ADMIN.batch, { params: { id: BID } });
  expect(refusalOf(answer)).toMatchObject({ status: 503, detail: expect.stringContaining("archive") });
  await deaf.stop();
});
