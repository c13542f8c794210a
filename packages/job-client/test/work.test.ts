/** A worker against the queue's own door, on a real owner. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { fail, type Handle, type JobClient, openJobs, retry, type WorkEvent, type Working } from "../src/index.ts";
import type { WorkOptions } from "../src/work.ts";
import { startJobApi, type TestApi } from "./support/job-api.ts";

let api: TestApi;
let jobs: JobClient;
let name = "";
let tests = 0;
const clients: JobClient[] = [];
const workers: Working[] = [];
const events: WorkEvent[] = [];

beforeAll(async () => void (api = await startJobApi()));
afterAll(() => api.end());
beforeEach(() => {
  name = `type-${++tests}`;
  events.length = 0;
  jobs = client();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((each) => each.stop()));
  await Promise.all(clients.splice(0).map((each) => each.close()));
});

function client(): JobClient {
  const made = openJobs({ urls: [api.url], renewMs: 50 });
  clients.push(made);
  return made;
}

function work(handle: Handle, options: WorkOptions = {}): Working {
  const working = client().work(name, handle, { pollMs: 500, onEvent: (event) => events.push(event), ...options });
  workers.push(working);
  return working;
}

async function create(more: Parameters<JobClient["createJob"]>[0] = {}): Promise<number> {
  const made = await jobs.createJob({ name, ...more });
  if (!made.ok) throw new Error(JSON.stringify(made));
  return made.value;
}
const stateOf = async (id: number): Promise<string> => {
  const found = await jobs.query(id);
  return found.ok ? found.value.state : found.kind === "refused" ? found.refusal.detail : found.kind;
};
const isGone = (id: number) => waitFor(async () => (await stateOf(id)) === "No job with this jobID");
const kinds = (): string[] => events.map(({ kind }) => kind);

describe("commands", () => {
  test("a job's life, by hand", async () => {
    const id = await create({ data: { value: 1 } });
    expect(await jobs.getJob({ name: "nobody-*" })).toMatchObject({ ok: true, value: null });
    const taken = await jobs.getJob({ name, waitMs: 1_000 });
    if (!taken.ok || taken.value === null) throw new Error("no job");
    expect(taken.value).toMatchObject({ jobID: id, name, data: { value: 1 } });
    const { lease } = taken.value;
    expect(await jobs.renew([{ tenant: "default", jobID: id, lease }])).toMatchObject({ ok: true, value: [] });
    expect((await jobs.update(id, { data: { value: 2 }, lease })).ok).toBe(true);
    expect((await jobs.retry(id, { lease })).ok).toBe(true);
    expect(await jobs.finish(id, { lease: "1.999" })).toMatchObject({ kind: "refused", refusal: { status: 409 } });
    expect((await jobs.delete(id)).ok).toBe(true);
    expect(await stateOf(id)).toBe("No job with this jobID");
    expect(await jobs.createJobs([{ name }, {}])).toMatchObject({
      kind: "refused",
      refusal: { detail: "Missing name" },
    });
  });

  test("who waits is given what comes", async () => {
    const waiting = jobs.getJob({ name, waitMs: 30_000 });
    const id = await create();
    expect(await waiting).toMatchObject({ ok: true, value: { jobID: id } });
  });
});

describe("a worker", () => {
  test("runs jobs, so many at once as it may, and ends them with what the handler returns", async () => {
    let atOnce = 0;
    let most = 0;
    const seen: number[] = [];
    work(
      async (job) => {
        most = Math.max(most, ++atOnce);
        await new Promise(setImmediate);
        seen.push(job.jobID);
        atOnce--;
        return { ok: true };
      },
      { concurrency: 3 },
    );
    const made = await jobs.createJobs(Array.from({ length: 20 }, () => ({ name })));
    if (!made.ok) throw new Error(made.kind);
    await waitFor(() => seen.length === 20);
    for (const id of made.value) await isGone(id);
    expect([...seen].sort((a, b) => a - b)).toEqual(made.value);
    expect(most).toBeLessThanOrEqual(3);
    await waitFor(() => kinds().filter((kind) => kind === "ended").length === 20);
  });

  test("tries again what throws, and gives up what always does", async () => {
    const id = await create();
    let runs = 0;
    work(
      () => {
        runs++;
        throw new Error("not today");
      },
      { patience: { attempts: 2, firstDelayMs: 0 } },
    );
    await waitFor(async () => (await stateOf(id)) === "FAILED");
    expect(runs).toBe(2);
    expect(kinds().filter((kind) => kind === "threw")).toHaveLength(2);
  });

  test("retries and fails when the handler says so", async () => {
    const [again, bad] = [await create({ data: { kind: "again" } }), await create({ data: { kind: "bad" } })];
    work((job) => (job.data["kind"] === "bad" ? fail() : retry({ delay: 1_000, data: { kind: "later" } })));
    await waitFor(async () => (await stateOf(bad)) === "FAILED");
    await waitFor(async () => (await stateOf(again)) === "QUEUED");
    expect(await jobs.query(again)).toMatchObject({ value: { data: { kind: "later" } } });
  });

  test("hears that its job was given to another, and has no say any more", async () => {
    const id = await create();
    const aborted = new Promise<void>((resolve) => {
      work(async (_, { signal }) => {
        await new Promise<void>((lost) => signal.addEventListener("abort", () => lost()));
        resolve();
      });
    });
    await waitFor(() => events.some(({ kind }) => kind === "started"));
    expect((await jobs.requeue([id], { name: `${name}-other` })).ok).toBe(true);
    await aborted;
    await waitFor(() => kinds().includes("lost"));
    expect(await stateOf(id)).toBe("QUEUED");
    expect(kinds()).not.toContain("ended");
  });

  test("stops at work that nobody hears of any more; somebody else does it then", async () => {
    const id = await create();
    const signals: AbortSignal[] = [];
    work(
      async (_, { signal }) => {
        signals.push(signal);
        if (signals.length > 1) return;
        await new Promise<void>((lost) => signal.addEventListener("abort", () => lost()));
        throw new Error("lost");
      },
      { leaseMs: 1_000 },
    );
    await waitFor(() => signals.length === 1);
    await api.close();
    await waitFor(() => signals[0]?.aborted === true);
    await api.reopen();
    await isGone(id);
    expect(signals).toHaveLength(2);
    expect(kinds().filter((kind) => kind !== "no-answer")).toEqual(["started", "lost", "started", "ended"]);
  });

  test("goes on after a job-api was away, and says then how a job ended meanwhile", async () => {
    const id = await create();
    let end: () => void = () => undefined;
    const ending = new Promise<void>((resolve) => (end = resolve));
    work(() => ending, { leaseMs: 60_000 });
    await waitFor(() => kinds().includes("started"));
    await api.close();
    end();
    await api.reopen();
    await isGone(id);
    await isGone(await create());
  });

  test("that is stopped finishes what it has, and takes no more", async () => {
    const id = await create();
    let end: () => void = () => undefined;
    const ending = new Promise<void>((resolve) => (end = resolve));
    const working = work(() => ending);
    await waitFor(() => working.busy === 1);
    const stopped = working.stop();
    const next = await create();
    end();
    await stopped;
    await isGone(id);
    expect(await stateOf(next)).toBe("QUEUED");
  });

  test("that is stopped gives back what is not done in time, in its old place", async () => {
    const id = await create();
    const before = await jobs.query(id);
    const working = work(() => new Promise(() => undefined), { graceMs: 10 });
    await waitFor(() => working.busy === 1);
    await working.stop();
    const after = await jobs.query(id);
    expect(after).toMatchObject({ value: { state: "QUEUED" } });
    expect(before.ok && after.ok && before.value.nextRun === after.value.nextRun).toBe(true);
    expect(kinds()).toEqual(["started", "gave-back"]);
  });
});

describe("a worker of a queue whose clock the test moves", () => {
  let shared: TestApi;
  beforeAll(async () => {
    shared = api;
    api = await startJobApi();
  });
  afterAll(async () => {
    await api.end();
    api = shared;
  });

  test("renews: a job that takes longer than two leases stays its own", async () => {
    const id = await create();
    let end: () => void = () => undefined;
    const ending = new Promise<void>((resolve) => (end = resolve));
    work(() => ending, { leaseMs: 60_000 });
    await waitFor(() => kinds().includes("started"));
    for (let passedMs = 0; passedMs < 160_000; passedMs += 40_000) {
      api.advance(40_000);
      // The first may have been sent before the clock went ahead; the second is sent when the first was answered.
      const before = api.renewals();
      await waitFor(() => api.renewals() >= before + 2, { what: "a renewal" });
      expect(await jobs.getJob({ name })).toMatchObject({ ok: true, value: null });
    }
    end();
    await isGone(id);
    expect(kinds()).toEqual(["started", "ended"]);
  });
});
