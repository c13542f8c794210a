/** A depositor sees what is in their collections; whether anything else exists is not theirs to know. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { Caller } from "@sluice/access";
import { readBatch } from "@sluice/queue-core";
import { aBatch, aBatchOfJobs, aSubmission } from "@sluice/testkit";
import { listenTo, type ReadingSite, serveReading } from "./reading-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
let site: ReadingSite;
beforeEach(async () => {
  site = await serveReading(cleanups);
});
afterEach(() => cleanups.run());

const depositorOf = (...scope: string[]): Caller => ({
  id: scope.join(),
  name: "Dora",
  role: "depositor",
  scope,
  tenants: [],
});
const MINE = depositorOf("sluice_demo_content");
const THEIRS = depositorOf("other_content");

test("single batches and jobs of others are not there, in no form", async () => {
  const { batch, jobs } = await aBatchOfJobs(site.intake, 1);
  const view = await readBatch(site.intake.session, batch);
  const uuid = view.kind === "found" ? String(view.value.submission.batchID) : "";
  const paths = [
    ...[batch, uuid].flatMap((id) => [`/v1/batches/${id}`, `/v1/batches/${id}/jobs`]),
    `/v1/jobs/${jobs[0]!}`,
  ];
  for (const [caller, status] of [
    [MINE, 200],
    [THEIRS, 404],
  ] as const) {
    site.caller = caller;
    for (const path of paths) expect([path, (await site.ask(path)).status]).toEqual([path, status]);
  }
  // Word for word what is said of one that nobody ever had.
  const [hidden, nowhere] = [(await site.ask(paths[0]!)).body, (await site.ask("/v1/batches/bid0000000404")).body];
  expect(hidden).toEqual({ ...nowhere, instance: hidden["instance"] });
});

test("events of others are not there either, also while their owner listens", async () => {
  const { batch, jobs } = await aBatchOfJobs(site.intake, 1);
  for (const path of [`/v1/batches/${batch}`, `/v1/jobs/${jobs[0]!}`]) {
    site.caller = MINE;
    const { status, next, close } = await listenTo(`${site.url}${path}/events`);
    expect([status, (await next())?.event]).toEqual([200, path.includes("jobs") ? "job" : "batch"]);
    site.caller = THEIRS;
    expect((await listenTo(`${site.url}${path}/events`)).status).toBe(404);
    expect((await listenTo(site.url + path, { accept: "text/event-stream" })).status).toBe(404);
    close();
  }
});

test("lists have only one's own, whatever is asked for", async () => {
  const mine = await aBatch(site.intake, aSubmission());
  const theirs = await aBatch(site.intake, aSubmission({ profile_name: "other_content" }));
  const listed = async (caller: Caller, query = ""): Promise<unknown[]> => {
    site.caller = caller;
    return (await site.ask(`/v1/batches${query}`)).body.items.map(({ bid }) => bid);
  };
  expect(await listed(MINE)).toEqual([mine]);
  expect(await listed(THEIRS)).toEqual([theirs]);
  expect(await listed(MINE, "?profile=other_content")).toEqual([]);
  expect(await listed(depositorOf())).toEqual([]);
  expect(await listed(depositorOf("sluice_demo_content", "other_content"))).toEqual([theirs, mine]);
});

test("the archive keeps the same secrets", async () => {
  const batch = await aBatch(site.intake, aSubmission());
  const view = await readBatch(site.intake.session, batch);
  if (view.kind !== "found") throw new Error(view.kind);
  await site.archive.archiveBatch({
    id: "bid0000009000",
    uuid: "bid-00000000-0000-4000-8000-000000009000",
    outcome: { ...view.value.status, status: "Completed", reports: 1 },
    profile: "sluice_demo_content",
    submitter: "tester",
    submission: { ...view.value.submission },
    reports: [],
    archivedAt: "2026-01-09 03:04:05 +0000",
    jobs: [],
  });
  for (const [caller, status] of [
    [MINE, 200],
    [THEIRS, 404],
  ] as const) {
    site.caller = caller;
    for (const path of ["", "/jobs"]) expect((await site.ask(`/v1/batches/bid0000009000${path}`)).status).toBe(status);
    expect((await listenTo(`${site.url}/v1/batches/bid0000009000/events`)).status).toBe(status);
  }
});
