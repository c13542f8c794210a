import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  actOnJob,
  type BatchId,
  cleanUpBatch,
  type JobId,
  markDueIfLast,
  openReport,
  paths,
  readBatch,
  records,
} from "@sluice/queue-core";
import { aBatchOfJobs, advance, claimJob, testWorker, waitFor } from "@sluice/testkit";
import { type Listening, listenTo, type ReadingSite, serveReading } from "./reading-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
let site: ReadingSite;
beforeEach(async () => {
  site = await serveReading(cleanups);
});
afterEach(() => cleanups.run());

const OPERATOR = { name: "olga", reason: "because" };

async function hear(path: string, headers: Record<string, string> = {}): Promise<Listening> {
  const listening = await listenTo(site.url + path, headers);
  cleanups.add(() => {
    listening.close();
    return Promise.resolve();
  });
  return listening;
}

const failJob = async (job: JobId): Promise<void> => {
  expect((await actOnJob(site.intake.ctx, OPERATOR, "fail", job)).kind).toBe("applied");
};

/** Reports on a batch whose jobs have all ended, the way the reporter does. */
async function report(batch: BatchId, failed: readonly JobId[], successful: readonly JobId[] = []): Promise<void> {
  const reporter = await testWorker(site.connect, "reporter");
  cleanups.add(() => reporter.close());
  await markDueIfLast(reporter.ctx, batch);
  await openReport(reporter.ctx, batch);
  const claim = await reporter.batches.claim("Reporting", batch);
  if (claim.kind !== "acquired") throw new Error(claim.kind);
  const lists = { last_modified: "", failed_jobs: [...failed], successful_jobs: [...successful] };
  const settled = await reporter.batches.settle(claim.loaded, { kind: "verdict", report: lists });
  expect(settled.kind).toBe("applied");
}

const countsOf = (data: Record<string, unknown> | undefined): unknown => data?.["counts"];

describe("a batch's events", () => {
  test("tell the batch at once, every change, and the end", async () => {
    const { batch, jobs } = await aBatchOfJobs(site.intake, 2);
    const { next } = await hear(`/v1/batches/${batch}/events`);
    const first = await next();
    expect(first).toMatchObject({
      event: "batch",
      id: expect.stringMatching(/^\d+$/),
      data: { bid: batch, status: "Processing" },
    });
    expect(countsOf(first!.data)).toMatchObject({ processing: 2, failed: 0 });
    await failJob(jobs[0]!);
    const second = await next();
    expect(countsOf(second!.data)).toMatchObject({ processing: 1, failed: 1 });
    expect(BigInt(second!.id!) >= BigInt(first!.id!)).toBe(true);
    await failJob(jobs[1]!);
    let third = await next();
    while ((countsOf(third?.data) as { failed: number }).failed < 2) third = await next();
    expect(countsOf(third!.data)).toMatchObject({ processing: 0, failed: 2 });
    await report(batch, jobs);
    let last = await next();
    while (last?.data?.["status"] === "Processing" || last?.data?.["status"] === "Reporting") last = await next();
    expect(last).toMatchObject({ event: "batch", data: { status: "Failed", report: { failed: 2 } } });
    expect(await next()).toMatchObject({ event: "end", id: last!.id });
    expect(await next()).toBeNull();
  });

  test("are also to be had from the batch itself, by Accept", async () => {
    const { batch } = await aBatchOfJobs(site.intake, 1);
    const { next } = await hear(`/v1/batches/${batch}`, { accept: "text/event-stream" });
    expect(await next()).toMatchObject({ event: "batch", data: { bid: batch } });
  });

  test("go on after a break without what was seen", async () => {
    const { batch, jobs } = await aBatchOfJobs(site.intake, 1);
    const before = await hear(`/v1/batches/${batch}/events`);
    const seen = await before.next();
    before.close();
    const after = await hear(`/v1/batches/${batch}/events`, { "last-event-id": seen!.id! });
    await failJob(jobs[0]!);
    expect(countsOf((await after.next())!.data)).toMatchObject({ failed: 1 });
    const late = await hear(`/v1/batches/${batch}/events`, { "last-event-id": seen!.id! });
    expect(countsOf((await late.next())!.data)).toMatchObject({ failed: 1 });
  });

  test("have ended for one who has seen the end: 204, stay away", async () => {
    const { batch, jobs } = await aBatchOfJobs(site.intake, 1);
    await failJob(jobs[0]!);
    await report(batch, jobs);
    const { next } = await hear(`/v1/batches/${batch}/events`);
    const last = await next();
    expect([last!.event, (await next())!.event, await next()]).toEqual(["batch", "end", null]);
    expect((await hear(`/v1/batches/${batch}/events`, { "last-event-id": last!.id! })).status).toBe(204);
  });

  test("cost one look per turn for any number of listeners, and none without", async () => {
    const { batch, jobs } = await aBatchOfJobs(site.intake, 1);
    const many = await Promise.all(Array.from({ length: 40 }, () => hear(`/v1/batches/${batch}/events`)));
    await Promise.all(many.map(({ next }) => next()));
    const quiet = site.looks();
    await failJob(jobs[0]!);
    const heard = await Promise.all(many.map(({ next }) => next()));
    expect(heard.map((event) => countsOf(event!.data))).toEqual(
      heard.map(() => expect.objectContaining({ failed: 1 })),
    );
    expect(site.looks() - quiet).toBeLessThan(40);
    for (const one of many) one.close();
    await waitFor(async () => {
      const before = site.looks();
      for (let i = 0; i < 3; i++) await site.intake.session.exists(paths.batches);
      await new Promise(setImmediate);
      return site.looks() === before;
    });
  });

  test("are refused with a problem where there is no such batch, or no answer", async () => {
    const nothing = await fetch(`${site.url}/v1/batches/bid0000000404/events`);
    expect([nothing.status, nothing.headers.get("content-type")]).toEqual([
      404,
      expect.stringMatching(/problem\+json/),
    ]);
    expect((await fetch(`${site.url}/v1/batches/bid/events`)).status).toBe(400);
    site.answering = false;
    expect((await fetch(`${site.url}/v1/batches/bid0000000404/events`)).status).toBe(503);
  });

  test("wait while the queue does not answer, and go on", async () => {
    const { batch, jobs } = await aBatchOfJobs(site.intake, 1);
    const { next } = await hear(`/v1/batches/${batch}/events`);
    await next();
    site.answering = false;
    await failJob(jobs[0]!);
    site.answering = true;
    expect(countsOf((await next())!.data)).toMatchObject({ failed: 1 });
  });

  test("send their listeners away when the service stops, to come back", async () => {
    const { batch } = await aBatchOfJobs(site.intake, 1);
    const { next } = await hear(`/v1/batches/${batch}/events`);
    await next();
    await site.stop();
    expect(await next()).toMatchObject({ event: "reconnect", data: { after_ms: expect.any(Number) } });
    expect(await next()).toBeNull();
  });
});

describe("a job's events", () => {
  test("tell every state, who works on it, how many bytes are done, and the end", async () => {
    const { jobs } = await aBatchOfJobs(site.intake, 1);
    const job = jobs[0]!;
    const { next } = await hear(`/v1/jobs/${job}/events`);
    expect(await next()).toMatchObject({ event: "job", data: { jid: job, status: "Pending" } });
    const until = async (holds: (data: Record<string, unknown>) => boolean) => {
      for (let event = await next(); ; event = await next()) {
        if (event === null) throw new Error("the stream ended");
        if (event.data !== undefined && holds(event.data)) return event;
      }
    };
    await advance(site.connect, job, "Downloading");
    await until(({ status }) => status === "Downloading");
    const downloader = await testWorker(site.connect, "downloader");
    cleanups.add(() => downloader.close());
    const loaded = await claimJob(downloader, "Downloading", job);
    await until(({ working_on_it: stage }) => stage === "downloader");

    const path = paths.worker("downloader", downloader.actor.worker);
    const node = await downloader.session.get(path);
    const worker = node.ok ? records.worker.decode(node.value.data) : null;
    if (!node.ok || worker?.ok !== true) throw new Error("no worker");
    const progress = { [job]: { doneBytes: 5, totalBytes: 20 } };
    const data = records.worker.encode({ ...worker.value, progress });
    await downloader.ctx.committer.submit({
      rank: "operator",
      ops: [{ op: "set", path, data, version: node.value.stat.version }],
    });
    const shown = await until((view) => view["progress"] !== null);
    expect(shown.data!["progress"]).toEqual({ done_bytes: 5, total_bytes: 20, note: null });

    await downloader.jobs.commit(loaded, { kind: "fail", code: "DOWNLOAD_FAILED", message: "HTTP 404" });
    await until(({ status }) => status === "Failed");
    expect(await next()).toMatchObject({ event: "end" });
    expect(await next()).toBeNull();
  });
});

test("a batch that was archived and cleaned up is answered from the archive, and has ended", async () => {
  const { batch, jobs } = await aBatchOfJobs(site.intake, 1);
  await advance(site.connect, jobs[0]!, "Notify");
  const notifier = await testWorker(site.connect, "notifier");
  cleanups.add(() => notifier.close());
  await notifier.jobs.commit(await claimJob(notifier, "Notify", jobs[0]!), { kind: "done", changes: {} });
  await report(batch, [], jobs);
  const { body } = await site.ask(`/v1/batches/${batch}`);
  expect(body).toMatchObject({ status: "Completed", archived: false });
  const view = await readBatch(site.intake.session, batch);
  if (view.kind !== "found") throw new Error(view.kind);
  await site.archive.archiveBatch({
    id: batch,
    uuid: String(body["id"]),
    outcome: { ...view.value.status, reports: 1 },
    profile: "sluice_demo_content",
    submitter: "tester",
    submission: { ...view.value.submission },
    reports: [{ ...view.value.report }],
    archivedAt: "2026-01-09 03:04:05 +0000",
    jobs: [],
  });
  expect((await cleanUpBatch(site.intake.ctx, batch)).kind).toBe("cleaned");
  for (const id of [batch, String(body["id"])]) {
    const archived = (await site.ask(`/v1/batches/${id}`)).body;
    const theirs = { rows: 0, created: 0, counts: expect.anything(), archived_at: "2026-01-09T03:04:05.000Z" };
    expect(archived).toEqual({ ...body, ...theirs, archived: true });
    const { next } = await hear(`/v1/batches/${id}/events`);
    expect(await next()).toEqual({ event: "batch", id: "archived", data: archived });
    expect([(await next())!.event, await next()]).toEqual(["end", null]);
    expect((await hear(`/v1/batches/${id}/events`, { "last-event-id": "archived" })).status).toBe(204);
  }
});
