import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type BatchId, failureMessage, type JobId, jobUuid, readBatch } from "@sluice/queue-core";
import { aBatch, aBatchOfJobs, aJobSpec, advance, aSubmission, claimJob, testWorker } from "@sluice/testkit";
import { type ReadingSite, serveReading } from "./reading-support.ts";
import { Batch, BatchSummary, Job, JobSummary } from "@sluice/wire";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
let site: ReadingSite;
beforeEach(async () => {
  site = await serveReading(cleanups);
});
afterEach(() => cleanups.run());

const submit = (patch: object = {}): Promise<BatchId> => aBatch(site.intake, aSubmission(patch));
const bids = (items: readonly Record<string, unknown>[]): unknown[] => items.map(({ bid }) => bid);

async function pages(path: string): Promise<unknown[][]> {
  const found: unknown[][] = [];
  for (let next: string | null = path; next !== null;) {
    const { body, response }: Awaited<ReturnType<ReadingSite["ask"]>> = await site.ask(next);
    found.push(body.items.map(({ bid, jid }) => jid ?? bid));
    next = /^<(.+)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1] ?? null;
  }
  return found;
}

describe("GET /v1/batches", () => {
  test("lists newest first, in pages that stay what they are while batches come", async () => {
    const ids: BatchId[] = [];
    for (let i = 0; i < 5; i++) ids.push(await submit());
    const first = await site.ask("/v1/batches?limit=2");
    const newest = await submit();
    const rest = await pages(`/v1/batches?limit=2&cursor=${first.body.next_cursor!}`);
    expect([bids(first.body.items), ...rest]).toEqual([[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]]]);
    expect((await pages("/v1/batches?limit=200"))[0]).toEqual([newest, ...ids.reverse()]);
    for (const item of first.body.items) expect(BatchSummary.parse(item)).toEqual(item);
  });

  test("finds by state, profile, submitter and time", async () => {
    const old = await submit({ submitter: "ada", submission_date: "2026-01-02 03:04:05 +0000" });
    const young = await submit({
      submitter: "ada",
      profile_name: "other_content",
      submission_date: "2026-02-01 00:00:00 +0000",
    });
    const { batch } = await aBatchOfJobs(site.intake, 1);
    const found = async (query: string): Promise<unknown[]> =>
      bids((await site.ask(`/v1/batches?${query}`)).body.items);
    expect(await found("state=Processing")).toEqual([batch]);
    expect(await found("submitter=ada")).toEqual([young, old]);
    expect(await found("submitter=ad")).toEqual([]);
    expect(await found("submitter=ada&profile=other_content")).toEqual([young]);
    expect(await found("since=2026-02-01")).toEqual([young]);
    expect(await found("until=2026-02-01T00:00:00Z")).toEqual([old]);
    expect(await found("since=2026-01-02T04:04:05%2B01:00&until=2026-01-31")).toEqual([old]);
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=201", "limit"],
    ["cursor=x", "cursor"],
    [`cursor=${Buffer.from('{"list":"jobs","at":"jid0000000001"}').toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from('{"list":"batches","at":"../jobs"}').toString("base64url")}`, "cursor"],
    ["state=Asleep", "state"],
    ["since=yesterday", "since"],
    ["since=2026-02-01&until=2026-01-01", "until"],
    ["colour=blue", "colour"],
  ])("refuses %s and names the field", async (query, field) => {
    const { status, body } = await site.ask(`/v1/batches?${query}`);
    expect([status, body.errors.map((one) => one.field)]).toEqual([400, [field]]);
  });

  test("says that the queue does not answer", async () => {
    site.answering = false;
    for (const path of [
      "/v1/batches",
      "/v1/batches/bid0000000001",
      "/v1/batches/bid0000000001/jobs",
      "/v1/jobs/jid0000000001",
    ])
      expect((await site.ask(path)).status).toBe(503);
  });
});

describe("GET /v1/batches/{id}", () => {
  test("shows counts, rows and submission, by either id, and no secret", async () => {
    const { batch } = await aBatchOfJobs(site.intake, 3);
    const { body } = await site.ask(`/v1/batches/${batch}`);
    expect(Batch.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      bid: batch,
      status: "Processing",
      rows: 3,
      created: 3,
      counts: { processing: 3, failed: 0, completed: 0, deleted: 0 },
      report: null,
      archived: false,
    });
    expect((await site.ask(`/v1/batches/${String(body["id"])}`)).body).toEqual(body);
    const signed = await submit({ payload_url: "https://content.example/a?X-Amz-Signature=secret" });
    expect(JSON.stringify((await site.ask(`/v1/batches/${signed}`)).body)).not.toContain("secret");
    expect(JSON.stringify((await site.ask("/v1/batches")).body)).not.toContain("secret");
  });
});

describe("GET /v1/batches/{id}/jobs", () => {
  test("lists in pages and by what became of them", async () => {
    const { batch, jobs } = await aBatchOfJobs(site.intake, 5);
    await fail(jobs[1]!);
    expect(await pages(`/v1/batches/${batch}/jobs?limit=2`)).toEqual([
      jobs.slice(0, 2),
      jobs.slice(2, 4),
      jobs.slice(4),
    ]);
    const { body } = await site.ask(`/v1/batches/${batch}/jobs?state=failed`);
    expect(body.items).toMatchObject([{ jid: jobs[1], status: "Failed", error_code: "DOWNLOAD_FAILED" }]);
    expect(JobSummary.parse(body.items[0])).toEqual(body.items[0]);
    expect(await pages(`/v1/batches/${batch}/jobs?state=processing`)).toEqual([[jobs[0], ...jobs.slice(2)]]);
  });

  test("refuses a wrong state, and knows no batch that is not there", async () => {
    const wrong = await site.ask("/v1/batches/bid0000000001/jobs?state=Failed");
    expect([wrong.status, wrong.body.errors[0]!.field]).toEqual([400, "state"]);
    expect((await site.ask("/v1/batches/bid0000000001/jobs")).status).toBe(404);
  });
});

async function fail(job: JobId): Promise<void> {
  await advance(site.connect, job, "Downloading");
  const downloader = await testWorker(site.connect, "downloader");
  const loaded = await claimJob(downloader, "Downloading", job);
  await downloader.jobs.commit(loaded, { kind: "fail", code: "DOWNLOAD_FAILED", message: "HTTP 404" });
  await downloader.close();
}

describe("GET /v1/jobs/{id}", () => {
  test("shows history, error and what to do", async () => {
    const { batch, jobs } = await aBatchOfJobs(site.intake, [
      aJobSpec({ identifiers: { primary_id: "ark:/99999/fk4a", local_id: ["one"] } }),
    ]);
    await fail(jobs[0]!);
    const { body } = await site.ask(`/v1/jobs/${jobs[0]!}`);
    expect(Job.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      jid: jobs[0],
      bid: batch,
      status: "Failed",
      message: failureMessage("DOWNLOAD_FAILED", "HTTP 404"),
      error_code: "DOWNLOAD_FAILED",
      remedy: expect.any(String),
      primary_id: "ark:/99999/fk4a",
      local_id: ["one"],
      priority: 5,
      progress: null,
      archived: false,
    });
    const events = body["events"] as { kind: string; state: string; seconds: number | null }[];
    expect(events.map(({ kind, state }) => [kind, state])).toEqual([
      ["create", "Pending"],
      ["done", "Pending"],
      ["done", "Estimating"],
      ["done", "Provisioning"],
      ["fail", "Downloading"],
    ]);
    expect(events.at(-1)!.seconds).toEqual(expect.any(Number));
    expect((await site.ask(`/v1/jobs/${String(body["id"])}`)).body).toEqual(body);
  });

  test("does not take a job of another history for the one that was meant", async () => {
    const { jobs } = await aBatchOfJobs(site.intake, 1);
    expect((await site.ask(`/v1/jobs/${jobUuid(jobs[0]!, "another fleet")}`)).status).toBe(404);
    const { body } = await site.ask(`/v1/jobs/${jobs[0]!}`);
    const id = String(body["id"]);
    expect((await site.ask(`/v1/jobs/${id}`)).body).toMatchObject({ jid: jobs[0] });
    const other = id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    expect((await site.ask(`/v1/jobs/${other}`)).status).toBe(404);
  });
});

describe("what has left the queue", () => {
  const JID = "jid0000000007";
  const UUID = "bid-00000000-0000-4000-8000-000000000009";

  beforeEach(async () => {
    const job = {
      id: JID,
      uuid: jobUuid(JID as JobId, "then"),
      outcome: {
        status: "Completed",
        last_modified: "2026-01-02 03:04:05 +0000",
        last_successful_status: "Notify",
        retry_count: 0,
        message: "",
      },
      configuration: { ...aJobSpec().configuration, batch_id: "bid0000000009", jobID: jobUuid(JID as JobId, "then") },
      identifiers: { primary_id: "ark:/99999/fk4a", local_id: [] },
      metadata: null,
      inventory: null,
      events: [["op", 1_767_323_045, "done", "Notify", "notifier-1", "", "2"]],
    };
    const failed = {
      ...job,
      id: "jid0000000008",
      uuid: "jid0000000008",
      outcome: { ...job.outcome, status: "Deleted" },
    };
    await site.archive.archiveBatch({
      id: "bid0000000009",
      uuid: UUID,
      outcome: { status: "Completed", last_modified: "2026-01-02 03:04:05 +0000", message: "", reports: 1 },
      profile: "sluice_demo_content",
      submitter: "ada",
      submission: { ...aSubmission({ batchID: UUID, payload_url: "https://content.example/a?sig=secret" }) },
      reports: [{ last_modified: "2026-01-02 03:04:05 +0000", failed_jobs: [], successful_jobs: [JID] }],
      archivedAt: "2026-01-09 03:04:05 +0000",
      jobs: [[job, failed]],
    });
  });

  test.each(["bid0000000009", UUID])("is answered from the archive, as %s", async (id) => {
    const { status, body } = await site.ask(`/v1/batches/${id}`);
    expect(status).toBe(200);
    expect(Batch.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      id: UUID,
      bid: "bid0000000009",
      status: "Completed",
      rows: 2,
      counts: { processing: 0, failed: 0, completed: 1, deleted: 1 },
      report: { successful: 1, failed: 0 },
      payload_url: expect.not.stringContaining("secret"),
      archived: true,
      archived_at: "2026-01-09T03:04:05.000Z",
    });
  });

  test("has its jobs there too", async () => {
    const { body } = await site.ask(`/v1/jobs/${JID}`);
    expect(Job.parse(body)).toEqual(body);
    expect(body).toMatchObject({ jid: JID, bid: "bid0000000009", status: "Completed", priority: null, archived: true });
    expect(body["events"]).toMatchObject([{ kind: "done", state: "Notify", by: "notifier-1", seconds: 2 }]);
    expect((await site.ask(`/v1/jobs/${jobUuid(JID as JobId, "then")}`)).body).toEqual(body);
    expect(await pages(`/v1/batches/${UUID}/jobs?limit=1`)).toEqual([[JID], ["jid0000000008"]]);
    expect(await pages(`/v1/batches/${UUID}/jobs?state=deleted`)).toEqual([["jid0000000008"]]);
  });

  test("is answered by the queue as long as it is there", async () => {
    const batch = await submit();
    const view = await readBatch(site.intake.session, batch);
    if (view.kind !== "found") throw new Error(view.kind);
    await site.archive.archiveBatch({
      id: batch,
      uuid: view.value.submission.batchID!,
      outcome: { ...view.value.status },
      profile: "x",
      submitter: "x",
      submission: { ...view.value.submission },
      reports: [],
      archivedAt: "2026-01-09 03:04:05 +0000",
      jobs: [],
    });
    expect((await site.ask(`/v1/batches/${batch}`)).body["archived"]).toBe(false);
  });

  test("and is nowhere is not found", async () => {
    for (const path of ["/v1/batches/bid0000000404", "/v1/jobs/jid0000000404", `/v1/batches/${UUID.replace("9", "8")}`])
      expect((await site.ask(path)).status).toBe(404);
  });
});
