/** What the API shows: the fleet, collections, batches, jobs; in pages, by filter, live. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Client } from "@sluice/client";
import { actOnJob, jobFolder, type JobId, type JobSpec, paths, records, setHold } from "@sluice/queue-core";
import {
  aBatchOfJobs,
  type ABatchOfJobs,
  aJobSpec,
  aSubmission,
  claimJob,
  type TestWorker,
  testWorker,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { ADMIN, type JobSummary } from "@sluice/wire";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readWorkers } from "../src/views/workers.ts";
import { COLLECTION, refusalOf, startAdmin, type TestAdmin, valueOf } from "./support.ts";

const OPERATOR = { name: "olga", reason: "because" };
const OTHER = "other_content";
let admin: TestAdmin;
let intake: TestWorker;
let viewer: Client;
let mine: ABatchOfJobs;
let others: ABatchOfJobs;

const spec = (profile: string, name: string, priority = 5): JobSpec => {
  const base = aJobSpec({ priority });
  return { ...base, configuration: { ...base.configuration, profile_name: profile, payload_name: name } };
};

beforeAll(async () => {
  const { connect } = await testZooKeeper();
  intake = await testWorker(connect, "batch-intake");
  admin = await startAdmin(connect);
  viewer = admin.as("viewer");
  mine = await aBatchOfJobs(
    intake,
    Array.from({ length: 7 }, (_, i) => spec(COLLECTION, `map-${i}.tif`, i)),
  );
  const theirs = [spec(OTHER, "Secret.pdf"), spec(OTHER, "plain.pdf")];
  others = await aBatchOfJobs(intake, theirs, aSubmission({ profile_name: OTHER }));
  for (const id of [mine.jobs[5]!, mine.jobs[6]!, others.jobs[1]!]) await actOnJob(intake.ctx, OPERATOR, "fail", id);
});
afterAll(async () => {
  await admin.stop();
  await intake.close();
});

async function allJobs(client: Client, query: Readonly<Record<string, string | number>>): Promise<JobSummary[]> {
  const items: JobSummary[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: { items: JobSummary[]; next_cursor: string | null } = valueOf(
      await client.call(ADMIN.jobs, { query: { ...query, ...(cursor === "" ? {} : { cursor }) } }),
    );
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}
const idsOf = (jobs: readonly JobSummary[]): string[] => jobs.map(({ jid }) => jid);

describe("the fleet", () => {
  test("says who asks and what they may", async () => {
    expect(valueOf(await admin.as("depositor").call(ADMIN.me, {}))).toEqual({
      name: "depositor",
      role: "depositor",
      collections: [COLLECTION],
      tenants: [],
      permissions: ["submit", "see-deposits"],
    });
    expect(valueOf(await admin.as("admin").call(ADMIN.me, {})).collections).toBeNull();
  });

  test("gives the tables as data", async () => {
    const model = valueOf(await viewer.call(ADMIN.model, {}));
    expect(model.pipeline[0]).toBe("Pending");
    expect(model.job_states.find(({ state }) => state === "Failed")).toMatchObject({
      stage: null,
      live: false,
      actions: ["resume", "delete", "priority"],
    });
    expect(model.batch_states.find(({ state }) => state === "Completed")?.actions).toEqual(["clean-up"]);
    expect(model.errors.find(({ code }) => code === "OPERATOR_FAILED")?.resumable).toBe(true);
  });

  test("shows stages, failures by reason, holds and room", async () => {
    await setHold(intake.ctx, OPERATOR, { kind: "stage", stage: "recorder" });
    await setHold(intake.ctx, OPERATOR, { kind: "collection", profile: "third_content" });
    const overview = await waitFor(async () => {
      const seen = valueOf(await viewer.call(ADMIN.overview, {}));
      return seen.held_collections.length === 1 && seen;
    });
    expect(overview).toMatchObject({
      fleet_id: intake.identity.history,
      jobs: { Pending: 6, Failed: 3 },
      batches: { Processing: 2 },
      queue_paused: null,
      held_collections: [{ collection: "third_content", by: "olga", why: "because" }],
      failures: [{ code: "OPERATOR_FAILED", count: 3, says: "an operator failed the job" }],
    });
    expect(overview.space?.volume_bytes).toBeGreaterThan(0);
    const stages = valueOf(await viewer.call(ADMIN.stages, {})).items;
    expect(stages.find(({ stage }) => stage === "recorder")?.paused).toMatchObject({ by: "olga" });
    expect(stages.find(({ stage }) => stage === "batch-intake")).toMatchObject({ waiting: 6, ready: 6, workers: 1 });
  });

  test("shows its workers and what they have in hand", async () => {
    const { items } = valueOf(await viewer.call(ADMIN.workers, { query: { stage: "batch-intake" } }));
    expect(items).toMatchObject([{ id: intake.actor.worker, stage: "batch-intake", draining: null }]);
  });

  test("does not count as in hand what a worker has let go of since it last wrote that down", async () => {
    const path = paths.worker("batch-intake", intake.actor.worker);
    const node = await intake.session.get(path);
    const record = node.ok ? records.worker.decode(node.value.data) : null;
    if (!node.ok || record?.ok !== true) throw new Error("not registered");
    const jobs = [mine.jobs[0]!, mine.jobs[1]!, "a batch"];
    const data = records.worker.encode({ ...record.value, jobs });
    expect(await intake.session.multi([{ op: "set", path, data, version: node.value.stat.version }])).toMatchObject({
      ok: true,
    });
    const loaded = await claimJob(intake, "Pending", mine.jobs[1]!);
    const seen = await readWorkers(intake.session);
    expect(seen?.find(({ id }) => id === intake.actor.worker)?.record.jobs).toEqual([mine.jobs[1], "a batch"]);
    await intake.jobs.giveBack(loaded.lease, "handback", { delayMs: 0, why: "", countsAttempt: false });
  });

  test("is told live", async () => {
    const stop = new AbortController();
    const events = viewer.events(ADMIN.overviewEvents, { signal: stop.signal });
    const first = await events.next();
    expect(first.value).toMatchObject({ ok: true, value: { fleet_id: intake.identity.history } });
    stop.abort();
  });

  test("counts a collection's jobs by state", async () => {
    const { items, unread } = await waitFor(async () => {
      const seen = valueOf(await viewer.call(ADMIN.collections, {}));
      return seen.unread === 0 && seen;
    });
    expect(unread).toBe(0);
    expect(items.map(({ name }) => name)).toEqual([OTHER, COLLECTION, "third_content"]);
    expect(items[0]?.jobs).toMatchObject({ Pending: 1, Failed: 1 });
    expect(items[1]?.jobs).toMatchObject({ Pending: 5, Failed: 2 });
    expect(items[2]?.hold).toMatchObject({ by: "olga" });
  });

  test("keeps samples for charts", async () => {
    expect(valueOf(await viewer.call(ADMIN.history, { query: { minutes: 5 } })).samples).toEqual([]);
  });
});

describe("batches", () => {
  test("are listed newest first, in pages", async () => {
    const first = valueOf(await viewer.call(ADMIN.batches, { query: { limit: 1 } }));
    expect(first.items.map(({ bid }) => bid)).toEqual([others.batch]);
    const cursor = first.next_cursor!;
    const second = valueOf(await viewer.call(ADMIN.batches, { query: { limit: 1, cursor } }));
    expect(second.items.map(({ bid }) => bid)).toEqual([mine.batch]);
    expect(second.next_cursor).toBeNull();
    const wrong = refusalOf(await viewer.call(ADMIN.batches, { query: { cursor: "x" } }));
    expect(wrong).toMatchObject({ status: 400, errors: [{ field: "cursor" }] });
  });

  test("are found by either id, and shown with what can be done", async () => {
    const batch = valueOf(await viewer.call(ADMIN.batch, { params: { id: mine.batch } }));
    expect(batch).toMatchObject({
      bid: mine.batch,
      counts: { processing: 5, failed: 2 },
      actions: [],
      archived: false,
    });
    const byUuid = valueOf(await viewer.call(ADMIN.batch, { params: { id: batch.id } }));
    expect(byUuid).toEqual(batch);
    const listed = valueOf(await viewer.call(ADMIN.batches, { query: { q: batch.id } }));
    expect(listed.items.map(({ bid }) => bid)).toEqual([mine.batch]);
    expect(refusalOf(await viewer.call(ADMIN.batch, { params: { id: "bid0000009999" } })).status).toBe(404);
  });

  test("show their jobs by outcome", async () => {
    const failed = valueOf(
      await viewer.call(ADMIN.batchJobs, { params: { id: mine.batch }, query: { outcome: "failed" } }),
    );
    expect(idsOf(failed.items)).toEqual([mine.jobs[5], mine.jobs[6]]);
  });
});

describe("jobs", () => {
  test("are listed in the order in which they will be worked, page by page", async () => {
    const inOrder = [mine.jobs[0], mine.jobs[1], mine.jobs[2], mine.jobs[3], mine.jobs[4], others.jobs[0]];
    expect(idsOf(await allJobs(viewer, { state: "Pending", limit: 2 }))).toEqual(inOrder);
    expect(idsOf(await allJobs(viewer, { limit: 4 }))).toEqual([
      ...inOrder,
      mine.jobs[5],
      others.jobs[1],
      mine.jobs[6],
    ]);
  });

  test("are found by collection, error, batch, id and name", async () => {
    expect(idsOf(await allJobs(viewer, { profile: OTHER }))).toEqual([others.jobs[0], others.jobs[1]]);
    expect(idsOf(await allJobs(viewer, { profile: OTHER, error_code: "OPERATOR_FAILED" }))).toEqual([others.jobs[1]]);
    expect(await allJobs(viewer, { error_code: "MINT_FAILED" })).toEqual([]);
    expect(idsOf(await allJobs(viewer, { q: "secret" }))).toEqual([others.jobs[0]]);
    expect(idsOf(await allJobs(viewer, { q: mine.jobs[3]! }))).toEqual([mine.jobs[3]]);
    expect(idsOf(await allJobs(viewer, { batch: mine.batch, state: "Failed", limit: 1 }))).toEqual([
      mine.jobs[5],
      mine.jobs[6],
    ]);
  });

  test("are shown with history, and with where a resume would lead", async () => {
    const job = valueOf(await viewer.call(ADMIN.job, { params: { id: mine.jobs[5]! } }));
    expect(job).toMatchObject({
      jid: mine.jobs[5],
      status: "Failed",
      error_code: "OPERATOR_FAILED",
      resume_at: "Pending",
      resume_choices: ["Pending"],
      actions: ["resume", "delete", "priority"],
      worker: null,
    });
    expect(job.events.map(({ kind }) => kind)).toEqual(["create", "op-fail"]);
    const byUuid = valueOf(await viewer.call(ADMIN.job, { params: { id: job.id } }));
    expect(byUuid).toEqual(job);
  });

  test("show who has them in hand, and when they will be taken again", async () => {
    const loaded = await claimJob(intake, "Pending", mine.jobs[4]!);
    const inHand = valueOf(await viewer.call(ADMIN.job, { params: { id: mine.jobs[4]! } }));
    expect(inHand).toMatchObject({ worker: intake.actor.worker, working_on_it: "batch-intake" });
    const wait = { delayMs: 3_600_000, why: "the sun is down", countsAttempt: false };
    await intake.jobs.giveBack(loaded.lease, "snooze", wait);
    const waits = valueOf(await viewer.call(ADMIN.job, { params: { id: mine.jobs[4]! } }));
    expect(waits).toMatchObject({ worker: null, waiting_for: "the sun is down" });
    expect(Date.parse(waits.not_before!)).toBeGreaterThan(Date.now() + 3_000_000);
  });

  test("show their files", async () => {
    const id = mine.jobs[0]!;
    const folder = join(
      admin.dir,
      jobFolder({ id, batchId: mine.batch, batchEpoch: intake.identity.epoch }),
      ".claim-3",
      "producer",
    );
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "map.tif"), "abc");
    const { items, truncated } = valueOf(await viewer.call(ADMIN.jobFiles, { params: { id: mine.jobs[0]! } }));
    expect(items).toMatchObject([{ path: ".claim-3/producer/map.tif", bytes: 3 }]);
    expect(truncated).toBe(false);
  });

  test("are told live until they are over", async () => {
    const id: JobId = mine.jobs[3]!;
    const states: string[] = [];
    for await (const event of viewer.events(ADMIN.jobEvents, { params: { id } })) {
      states.push(valueOf(event).status);
      if (states.length === 1) await actOnJob(intake.ctx, OPERATOR, "fail", id);
    }
    expect(states).toEqual(["Pending", "Failed"]);
  });
});

describe("a depositor", () => {
  let depositor: Client;
  beforeAll(() => {
    depositor = admin.as("depositor");
  });

  test("sees their own collection in lists, and nothing else", async () => {
    const jobs = await allJobs(depositor, { limit: 3 });
    expect(new Set(jobs.map(({ profile }) => profile))).toEqual(new Set([COLLECTION]));
    expect(jobs).toHaveLength(7);
    expect(await allJobs(depositor, { profile: OTHER })).toEqual([]);
    expect(await allJobs(depositor, { q: "secret" })).toEqual([]);
    expect(await allJobs(depositor, { q: others.jobs[0]! })).toEqual([]);
    const { items } = valueOf(await depositor.call(ADMIN.collections, {}));
    expect(items.map(({ name }) => name)).toEqual([COLLECTION]);
  });

  test("does not learn that others' batches and jobs exist", async () => {
    const reading = Object.values(ADMIN).filter(
      ({ method, permission, path }) => method === "get" && permission === "see-deposits" && path.includes("{id}"),
    );
    expect(reading.map(({ id }) => id).sort()).toEqual(
      ["batch", "batchEvents", "batchJobs", "batchMails", "job", "jobEvents", "jobFiles"].sort(),
    );
    for (const endpoint of reading) {
      const [theirs, ours] = endpoint.path.startsWith("/v1/batches")
        ? [others.batch, mine.batch]
        : [others.jobs[0]!, mine.jobs[0]!];
      const at = (id: string): Promise<Response> =>
        fetch(`${admin.url}${endpoint.path.replace("{id}", id)}`, {
          headers: { authorization: `Bearer ${admin.tokens.depositor}` },
        });
      expect([endpoint.id, (await at(theirs)).status]).toEqual([endpoint.id, 404]);
      const own = await at(ours);
      expect([endpoint.id, own.status]).toEqual([endpoint.id, 200]);
      await own.body?.cancel();
    }
    const listed = refusalOf(await depositor.call(ADMIN.jobs, { query: { batch: others.batch } }));
    expect(listed.status).toBe(404);
  });
});
