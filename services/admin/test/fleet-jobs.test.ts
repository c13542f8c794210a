/** The fleet's own jobs: what their handlers do to a real admin, and their schedules in a real job-api. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Client, makeClient } from "@sluice/client";
import { ensureSchedules, type FleetJob, fleetHandlers, type FleetPorts } from "@sluice/fleet-jobs";
import { actOnBatch, type BatchId, paths } from "@sluice/queue-core";
import { type TestWorker, testWorker, testZooKeeper } from "@sluice/testkit";
import { type BodyOf, JOB_HOUSE, JOBS } from "@sluice/wire";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { aReportedBatch } from "./console/holdings.ts";
import { freePort, startJobApi, type TestJobApi } from "./console/job-api.ts";
import { refusalOf, startAdmin, type TestAdmin, valueOf } from "./support.ts";

let admin: TestAdmin;
let api: TestJobApi;
let intake: TestWorker;
let reporter: TestWorker;
let system: Client;

const signal = new AbortController().signal;
const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Types of which a run succeeded. */
const done: string[] = [];

function handlers(overrides: Partial<FleetPorts> = {}) {
  return fleetHandlers({
    admin: admin.as("admin"),
    intake: null,
    snapshotsDir: join(admin.dir, "snapshots"),
    reportsDir: join(admin.dir, "reports"),
    purges: { runs: () => Promise.resolve(0), blobs: () => Promise.resolve(0) },
    nowMs: () => NOW_MS,
    pause: () => Promise.resolve(),
    onDone(type) {
      done.push(type);
      return Promise.resolve();
    },
    onFindings: () => Promise.resolve(),
    ...overrides,
  });
}

const jobOf = (name: string, data: object = {}): FleetJob => ({
  id: 15_001,
  tenant: "system",
  name,
  data: data as FleetJob["data"],
  token: "1.1",
  attempt: 1,
});

async function run(name: string, data: object = {}, overrides: Partial<FleetPorts> = {}) {
  const { exit, result } = await handlers(overrides)(name)!(jobOf(name, data), signal);
  return { exit, result: JSON.parse(result) as Readonly<Record<string, unknown>> };
}

async function aDeletedBatch(): Promise<BatchId> {
  const { batch } = await aReportedBatch({ intake, reporter }, "A lost paper");
  const deleted = await actOnBatch(intake.ctx, { name: "olga", reason: "a test" }, "delete", batch);
  expect(deleted).toMatchObject({ kind: "applied" });
  return batch;
}

const ordered = async (): Promise<readonly string[]> => {
  const listed = await intake.session.children(paths.cleanUps);
  return listed.ok ? [...listed.value.names].sort() : [];
};

describe("the fleet's own jobs", () => {
  beforeAll(async () => {
    const { connect } = await testZooKeeper();
    const port = await freePort();
    admin = await startAdmin(connect);
    api = await startJobApi(connect, port, admin);
    system = makeClient({ baseUrl: api.url, token: admin.tokens.admin });
    intake = await testWorker(connect, "batch-intake");
    reporter = await testWorker(connect, "reporter");
  });
  afterAll(async () => {
    await Promise.all([intake.close(), reporter.close()]);
    await api.stop();
    await admin.stop();
  });

  test("clean-up orders what has been over for long enough, once, and leaves the rest", async () => {
    const batches = [await aDeletedBatch(), await aDeletedBatch()].sort();
    const young = { nowMs: () => Date.now() };
    expect(await run("fleet/clean-up", { retentionDays: 1 }, young)).toEqual({
      exit: 200,
      result: { ordered: 0, standing: 0 },
    });
    expect(await ordered()).toEqual([]);
    const old = { nowMs: () => Date.now() + 2 * DAY_MS };
    expect(await run("fleet/clean-up", { retentionDays: 1 }, old)).toEqual({
      exit: 200,
      result: { ordered: 2, standing: 0 },
    });
    expect(await ordered()).toEqual(batches);
    expect(done.splice(0)).toEqual(["fleet/clean-up", "fleet/clean-up"]);
    // Run again, as after a crash: the orders stand.
    expect(await run("fleet/clean-up", { retentionDays: 1 }, old)).toEqual({
      exit: 200,
      result: { ordered: 0, standing: 2 },
    });
  });

  test("with a token that has expired is not done, though it runs", async () => {
    done.splice(0);
    const expired = makeClient({ baseUrl: admin.url, token: "sluice_no_token_of_ours" });
    expect((await run("fleet/clean-up", {}, { admin: expired })).exit).toBeGreaterThanOrEqual(400);
    expect(done).toEqual([]);
  });

  test("a snapshot is whole when it has its name; the newest are kept, and what a killed run left goes", async () => {
    const dir = join(admin.dir, "snapshots");
    await mkdir(dir, { recursive: true });
    const older = ["2026-01-01T00-00-00-000Z", "2026-01-02T00-00-00-000Z"].map((at) => `sluice-tree-${at}.gz`);
    for (const name of [...older, ".unfinished-sluice-tree-2026-01-01T00-00-00-000Z.gz", "mine.txt"])
      await writeFile(join(dir, name), "");
    const { exit, result } = await run("fleet/snapshot", { copies: 2 });
    expect([exit, result["removed"]]).toEqual([200, 2]);
    const name = "sluice-tree-2026-01-02T03-04-05-000Z.gz";
    expect((await readdir(dir)).sort()).toEqual(["mine.txt", older[1], name].sort());
    expect(gunzipSync(await readFile(join(dir, name))).length).toBeGreaterThan(100);
  });

  test("a report of fsck is kept; what it finds is said aloud", async () => {
    const said: number[] = [];
    const onFindings: FleetPorts["onFindings"] = ({ findings }) => Promise.resolve(void said.push(findings.length));
    const clean = await run("fleet/fsck-report", {}, { onFindings });
    expect([clean.exit, clean.result["violations"]]).toEqual([200, 0]);
    await intake.session.multi([{ op: "create", path: "/jobs/jid0000009999", data: Buffer.from("") }]);
    const broken = await run("fleet/fsck-report", {}, { onFindings, nowMs: () => NOW_MS + 1_000 });
    expect(broken.exit).toBe(210);
    expect(said).toEqual([0, broken.result["violations"]]);
    expect(broken.result["violations"]).toBeGreaterThan(0);
    const reports = await readdir(join(admin.dir, "reports"));
    expect(reports).toHaveLength(2);
    const kept = JSON.parse(await readFile(join(admin.dir, "reports", String(broken.result["report"])), "utf8")) as {
      findings: readonly { path: string }[];
    };
    expect(kept.findings.map(({ path }) => path)).toContain("/jobs/jid0000009999");
  });

  test("an admin that comes a moment later is waited for within the run", async () => {
    const late = { ...makeClient({ baseUrl: "http://127.0.0.1:9" }) };
    const pauses: number[] = [];
    const pause = (ms: number): Promise<void> => {
      if (pauses.push(ms) === 2) Object.assign(late, admin.as("admin"));
      return Promise.resolve();
    };
    expect((await run("fleet/snapshot", {}, { admin: late, pause })).exit).toBe(200);
    expect(pauses).toHaveLength(2);
  });

  test("whoever is not there is waited for; data that make no sense are said to be so", async () => {
    const away = makeClient({ baseUrl: "http://127.0.0.1:9" });
    expect((await run("fleet/snapshot", {}, { admin: away })).exit).toBe(503);
    expect((await run("fleet/clean-up", {}, { admin: away })).exit).toBe(503);
    expect(await run("fleet/clean-up", {}, { admin: null })).toMatchObject({
      exit: 503,
      result: { why: expect.stringContaining("ADMIN_URL") },
    });
    expect((await run("fleet/clean-up", { retentionDays: "soon" })).exit).toBe(400);
    expect(handlers()("fleet/other")).toBeNull();
  });

  test("purge lets old runs go by their time, and blobs that nobody names; one that cannot keeps nobody from the other", async () => {
    const ask = async (body: BodyOf<typeof JOB_HOUSE.purge>): Promise<number> =>
      valueOf(await system.call(JOB_HOUSE.purge, { body })).gone;
    const asked: number[] = [];
    const purges: FleetPorts["purges"] = {
      runs: (olderThanMs) => {
        asked.push(olderThanMs / DAY_MS);
        return ask({ what: "runs", older_than_ms: olderThanMs });
      },
      blobs: () => ask({ what: "blobs" }),
    };
    const large = { text: "x".repeat(100_000) };
    valueOf(await system.call(JOBS.createJob, { params: { tenant: "maps" }, body: { name: "large", data: large } }));
    const blobs = join(admin.dir, "job-store", "blobs");
    const files = await readdir(blobs, { recursive: true });
    // One that was left two hours ago, and that nobody names.
    const lost = join(blobs, "00", "0".repeat(64));
    await mkdir(join(blobs, "00"), { recursive: true });
    await writeFile(lost, "");
    await utimes(lost, new Date(Date.now() - 7_200_000), new Date(Date.now() - 7_200_000));
    expect(await run("fleet/purge", { runsDays: 30 }, { purges })).toEqual({
      exit: 200,
      result: { gone: { runs: 0, blobs: 1 }, troubles: [] },
    });
    expect(await readdir(blobs, { recursive: true })).toEqual(expect.arrayContaining(files));
    expect(asked).toEqual([30]);
    const away: FleetPorts["purges"] = { ...purges, runs: () => Promise.reject(new Error("away")) };
    expect(await run("fleet/purge", {}, { purges: away })).toEqual({
      exit: 503,
      result: { gone: { blobs: 0 }, troubles: ["runs: away"] },
    });
    const viewer = makeClient({ baseUrl: api.url, token: admin.tokens.viewer });
    expect(refusalOf(await viewer.call(JOB_HOUSE.purge, { body: { what: "runs" } })).status).toBe(403);
  });

  test("schedules are made once, whoever starts, and stay as an operator has changed them", async () => {
    const params = { tenant: "system" };
    const make = () => ensureSchedules((body) => system.call(JOBS.createJob, { params, body }));
    const [first, second] = await Promise.all([make(), make()]);
    expect(second).toEqual(first);
    if (first.kind !== "there") throw new Error(first.why);
    const [cleanUp] = first.ids;
    const data = { retentionDays: 30 };
    valueOf(
      await system.call(JOBS.updateJob, { params, body: { jobID: cleanUp!, data, repeat: "FINISHED, +2 HOURS" } }),
    );
    expect(await make()).toEqual(first);
    const listed = valueOf(await system.call(JOBS.listJobs, { params, query: { repeating: "true" } })).items;
    expect(listed.map(({ name, repeat }) => [name, repeat])).toEqual([
      ["fleet/clean-up", "FINISHED, +2 HOURS"],
      ["fleet/purge", "FINISHED, +1 DAY"],
      ["fleet/snapshot", "FINISHED, +1 DAY, START OF DAY, +2 HOURS"],
      ["fleet/fsck-report", "FINISHED, +1 DAY"],
    ]);
    const kept = valueOf(await system.call(JOBS.describeJob, { params: { ...params, id: cleanUp! } }));
    expect(kept.data).toEqual(data);
    const gone = await ensureSchedules(() => Promise.resolve({ ok: false, kind: "unreachable", why: "away" }));
    expect(gone).toEqual({ kind: "not-yet", why: "fleet/clean-up: away" });
  });
});
