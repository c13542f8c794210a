/** One order for many jobs: counted, confirmed, carried out, stopped; and carried on when its admin is killed. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { printTokenFile } from "@sluice/access";
import { type Client, makeClient } from "@sluice/client";
import { type JobId, type JobSpec, orderJobs, readJobs, setHold } from "@sluice/queue-core";
import { aBatchOfJobs, aJobSpec, type TestWorker, testWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { ADMIN, type BulkRequest, type OperationView } from "@sluice/wire";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addRefusals } from "../src/bulk/run-operation.ts";
import { aTokenFor, COLLECTION, refusalOf, startAdmin, type TestAdmin, valueOf } from "./support.ts";

const OLGA = { name: "olga", reason: "a test" };
const WHY = "the store is back";
const [boundToken, boundRecord] = aTokenFor("operator", ["other_content"], "bound");
let connect: string;
let intake: TestWorker;
let admin: TestAdmin | null = null;
const cleanups: (() => Promise<void>)[] = [];

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
});
afterEach(async () => {
  await admin?.stop();
  admin = null;
  for (const cleanup of cleanups.splice(0)) await cleanup();
  await intake.close();
});

async function failedJobs(count: number): Promise<readonly JobId[]> {
  const { jobs } = await aBatchOfJobs(intake, count);
  const failed = await orderJobs(intake.ctx, OLGA, { action: "fail" }, { ids: jobs });
  expect(failed.progress.done).toBe(count);
  return jobs;
}

type Wish = Omit<BulkRequest, "reason" | "dry_run"> & { readonly dry_run?: boolean };
const order = (client: Client, body: Wish) => client.call(ADMIN.bulkAction, { body: { reason: WHY, ...body } });

const untilOver = (client: Client, id: string): Promise<OperationView> =>
  waitFor(async () => {
    const seen = valueOf(await client.call(ADMIN.operation, { params: { id } }));
    return seen.state !== "running" && seen;
  });

describe("an order for many jobs", () => {
  test("is counted first, refused when the number is another, and then told live until it is done", async () => {
    admin = await startAdmin(connect);
    const olga = admin.as("operator");
    const jobs = await failedJobs(130);
    await aBatchOfJobs(intake, 2);
    const filter = { profile: COLLECTION };
    const preview = valueOf(await olga.call(ADMIN.bulkPreview, { body: { action: "resume", reason: WHY, filter } }));
    expect(preview).toMatchObject({
      count: 132,
      by_state: { Failed: 130, Pending: 2 },
      by_profile: { [COLLECTION]: 132 },
      not_allowed: 2,
    });
    expect(preview.examples).toHaveLength(20);
    const wrong = refusalOf(await order(olga, { action: "resume", filter, expected_count: 130 }));
    expect(wrong).toMatchObject({ status: 409, detail: "the filter finds 132 jobs now, not 130" });
    const dry = valueOf(await order(olga, { action: "resume", filter, dry_run: true }));
    expect(dry).toMatchObject({ state: "done", total: 132, applied: 0 });

    const begun = valueOf(await order(olga, { action: "resume", filter, expected_count: 132 }));
    expect(begun).toMatchObject({ state: "running", total: 132, by: "operator", reason: WHY });
    const seen: OperationView[] = [];
    for await (const event of olga.events(ADMIN.operationEvents, { params: { id: begun.id } }))
      seen.push(valueOf(event));
    expect(seen.at(-1)).toMatchObject({ state: "done", applied: 130, total: 132 });
    expect(seen.at(-1)?.refused).toMatchObject([
      { why: "the job is Pending, only a Failed one can be resumed", count: 2 },
    ]);
    const listed = valueOf(await olga.call(ADMIN.operations, {})).items;
    expect(listed.map(({ id }) => id)).toEqual([begun.id]);
    const { items } = valueOf(await olga.call(ADMIN.audit, { query: { target: begun.id } }));
    const record = { actor: "operator", action: "bulk.resume 132 jobs", reason: WHY };
    expect(items).toMatchObject([record]);
    expect(items[0]!.caller).toMatch(/^token:/);
    const theirs = valueOf(await olga.call(ADMIN.audit, { query: { actor: items[0]!.caller! } })).items;
    expect(theirs).toMatchObject([record]);
    const ofJob = valueOf(await olga.call(ADMIN.audit, { query: { target: jobs[0]! } })).items;
    expect(ofJob.filter(({ action }) => action.includes("resume"))).toMatchObject([{ ...record, jobs: 132 }]);
    expect(valueOf(await olga.call(ADMIN.auditCheck, {}))).toMatchObject({ whole: true, problem: null });
  });

  test("goes on while the queue is paused; deleting must be confirmed", async () => {
    admin = await startAdmin(connect);
    const olga = admin.as("operator");
    const jobs = await failedJobs(3);
    await setHold(intake.ctx, OLGA, { kind: "queue" });
    const filter = { ids: [...jobs] };
    expect(refusalOf(await order(olga, { action: "delete", filter }))).toMatchObject({
      status: 409,
      code: "CONFIRMATION_NEEDED",
    });
    const begun = valueOf(await order(olga, { action: "delete", filter, confirm: true }));
    expect(await untilOver(olga, begun.id)).toMatchObject({ state: "done", applied: 3, refused: [] });
  });

  test("is refused without a filter, and with one that makes no sense", async () => {
    admin = await startAdmin(connect);
    const olga = admin.as("operator");
    expect(refusalOf(await order(olga, { action: "hold", filter: {} })).errors).toMatchObject([{ pointer: "/filter" }]);
    const ids = refusalOf(await order(olga, { action: "hold", filter: { ids: ["x"] } }));
    expect(ids.errors).toMatchObject([{ pointer: "/filter/ids/0" }]);
  });

  test("by a search finds what the list finds: names, identifiers, or the one job that an id names", async () => {
    admin = await startAdmin(connect);
    const olga = admin.as("operator");
    const base = aJobSpec();
    const named = (payload_name: string, local_id: string): JobSpec => ({
      ...base,
      configuration: { ...base.configuration, payload_name },
      identifiers: { primary_id: null, local_id: [local_id] },
    });
    const { jobs, batch } = await aBatchOfJobs(intake, [named("Delta-1.tif", "x1"), named("b.tif", "DELTA-2")]);
    await aBatchOfJobs(intake, [named("delta-3.tif", "x3"), named("other.tif", "x4")]);
    const found = async (filter: BulkRequest["filter"]) =>
      valueOf(await olga.call(ADMIN.bulkPreview, { body: { action: "hold", reason: WHY, filter } })).count;
    const listed = async (query: { readonly q: string; readonly batch?: string }) =>
      valueOf(await olga.call(ADMIN.jobs, { query })).items.length;
    for (const query of [{ q: "delta" }, { q: "delta", batch }, { q: "example.org" }, { q: jobs[0]! }])
      expect([query, await found(query)]).toEqual([query, await listed(query)]);
    expect(await found({ q: "delta" })).toBe(3);
    expect(await found({ q: jobs[0]! })).toBe(1);
    expect(await found({ q: jobs[0]!, ids: [jobs[1]!] })).toBe(0);
    const begun = valueOf(await order(olga, { action: "hold", filter: { q: "delta" }, expected_count: 3 }));
    expect(await untilOver(olga, begun.id)).toMatchObject({ state: "done", applied: 3, refused: [] });
  });

  test("does not reach beyond the operator's collections", async () => {
    admin = await startAdmin(connect, { more: [boundRecord] });
    const jobs = await failedJobs(2);
    const bound = admin.withToken(boundToken);
    const preview = valueOf(
      await bound.call(ADMIN.bulkPreview, { body: { action: "resume", reason: WHY, filter: { ids: [...jobs] } } }),
    );
    expect(preview.count).toBe(0);
    const begun = valueOf(await order(bound, { action: "resume", filter: { ids: [...jobs] } }));
    expect(begun.total).toBe(0);
    const others = valueOf(await order(admin.as("operator"), { action: "resume", filter: { ids: [...jobs] } }));
    expect(refusalOf(await bound.call(ADMIN.operation, { params: { id: others.id } })).status).toBe(404);
    expect(refusalOf(await bound.call(ADMIN.stopOperation, { params: { id: others.id } })).status).toBe(404);
    expect(valueOf(await bound.call(ADMIN.operations, {})).items.map(({ id }) => id)).toEqual([begun.id]);
  });
});

const isStopped = async (pid: number): Promise<boolean> =>
  /^State:\s*T/m.test(await readFile(`/proc/${pid}/status`, "utf8"));

const MAIN = fileURLToPath(new URL("../../../dist/programs/admin.js", import.meta.url));

/** A real process, and a client of it for an operator. */
async function adminThat(breaks: { readonly failpoints: string; readonly sessionMs: number }) {
  const dir = await mkdtemp(join(tmpdir(), "sluice-bulk-"));
  const [token, record] = aTokenFor("operator", ["*"]);
  await writeFile(join(dir, "tokens.json"), printTokenFile([record]));
  const spawned = await spawnAdmin({
    ZOOKEEPER_CONNECT: connect,
    ZK_SESSION_TIMEOUT_MS: String(breaks.sessionMs),
    METRICS_PORT: "0",
    PORT: "0",
    WORKING_DIR: dir,
    PROFILES_DIR: dir,
    AUTH: "on",
    AUTH_TOKENS_FILE: join(dir, "tokens.json"),
    FAILPOINTS: breaks.failpoints,
  });
  cleanups.push(async () => {
    spawned.child.kill("SIGKILL");
    await spawned.ended;
    await rm(dir, { recursive: true, force: true });
  });
  return { ...spawned, client: makeClient({ baseUrl: spawned.url, token }) };
}

/** Resolves with its address as soon as it says so. */
async function spawnAdmin(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const urls: string[] = [];
  let isAtWork = false;
  lines.on("line", (line) => {
    const { url, msg } = JSON.parse(line) as { url?: string; msg?: string };
    if (msg === "console and API" && url !== undefined) urls.push(url);
    if (msg === "at work") isAtWork = true;
  });
  const url = await waitFor(() => isAtWork && urls[0]);
  return { url, ended, child };
}

describe("an admin that is killed in the middle of it", () => {
  test("is followed by another, which leaves out nothing and does nothing twice, not even to a job that failed again", async () => {
    const jobs = await failedJobs(250);
    // After the first hundred.
    const { client, ended } = await adminThat({ failpoints: "admin.beforeSave=kill#1", sessionMs: 4_000 });
    const begun = valueOf(await order(client, { action: "resume", filter: { states: ["Failed"] } }));
    expect(begun.total).toBe(250);
    const [, signal] = (await ended) as [number | null, string | null];
    expect(signal).toBe("SIGKILL");
    const again = jobs.slice(0, 3);
    const failed = await orderJobs(intake.ctx, OLGA, { action: "fail" }, { ids: again });
    expect(failed.progress.done).toBe(3);

    admin = await startAdmin(connect);
    const over = await untilOver(admin.as("operator"), begun.id);
    expect(over).toMatchObject({ state: "done", total: 250, applied: 250, refused: [] });
    const views = await readJobs(intake.session, jobs);
    const found = views!.flatMap((view) => (view.kind === "found" ? [view.value] : []));
    expect(found.map(({ status }) => status.retry_count)).toEqual(jobs.map(() => 1));
    expect(found.filter(({ status }) => status.status === "Failed").map(({ id }) => id)).toEqual(again);
    const metrics = await (await fetch(`${admin.opsUrl}/metrics`)).text();
    expect(metrics).toContain('sluice_admin_operations_total{state="resumed"} 1');
  });
});

test("an operation is stopped in the middle, and tells exactly what it has done", async () => {
  const jobs = await failedJobs(250);
  // It stops itself after the first slice: another admin hears of the order while it is in the middle.
  const first = await adminThat({ failpoints: "admin.afterSlice=stop#1", sessionMs: 60_000 });
  const begun = valueOf(await order(first.client, { action: "resume", filter: { states: ["Failed"] } }));
  await waitFor(() => isStopped(first.child.pid!), { what: "an admin in the middle" });
  admin = await startAdmin(connect);
  const olga = admin.as("operator");
  const query = { reason: "the wrong collection" };
  const stopped = valueOf(await olga.call(ADMIN.stopOperation, { params: { id: begun.id }, query }));
  expect(stopped.state).toBe("stopped");
  const audited = valueOf(await admin.as("admin").call(ADMIN.audit, { query: { target: begun.id } })).items;
  expect(audited[0]).toMatchObject({ action: "bulk.stop", reason: query.reason });
  first.child.kill("SIGCONT");
  const over = await waitFor(async () => {
    const due = await intake.session.children("/fleet/operations/due");
    return due.ok && due.value.names.length === 0 && untilOver(olga, begun.id);
  });
  expect(over.state).toBe("stopped");
  expect(over.applied).toBeGreaterThan(0);
  expect(over.applied).toBeLessThan(250);
  const views = await readJobs(intake.session, jobs);
  const moved = views!.filter((view) => view.kind === "found" && view.value.status.status !== "Failed");
  expect(over.applied).toBe(moved.length);
  const again = refusalOf(await olga.call(ADMIN.stopOperation, { params: { id: begun.id } }));
  expect(again).toMatchObject({ status: 409 });
  expect(again.detail).toContain("it is stopped already");
});

test("reasons are added up, and bounded", () => {
  const one = (why: string) => ({ why, count: 1, example: "jid" });
  expect(addRefusals([one("a")], [one("a"), one("b")])).toEqual([{ ...one("a"), count: 2 }, one("b")]);
  const many = addRefusals(
    [],
    Array.from({ length: 60 }, (_, i) => one(String(i))),
  );
  expect(many).toHaveLength(51);
  expect(many.at(-1)).toMatchObject({ why: "for other reasons", count: 10 });
});
