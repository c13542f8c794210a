/** A stage of another team, over HTTP: what its callers can rely on. */
import { actOnJob, type JobId, paths, readJob, records, releaseHold, setHold } from "@sluice/queue-core";
import {
  aBatchOfJobs,
  advance,
  aJobSpec,
  checkInvariants,
  describeViolation,
  makeTree,
  type TestWorker,
  testWorker,
  type TestZooKeeper,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Caller, startStageApi, type TestStageApi } from "./support/stage-api.ts";

let zookeeper: TestZooKeeper;
let tools: TestWorker;
let running: TestStageApi[];
beforeEach(async () => {
  zookeeper = await testZooKeeper();
  await makeTree(zookeeper.connect);
  tools = await testWorker(zookeeper.connect, "batch-intake");
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  await tools.close();
  const { logDir, root } = zookeeper;
  expect(checkInvariants({ logDir, root }).violations.map(describeViolation)).toEqual([]);
});

async function start(name = "stage-api", env: Readonly<Record<string, string>> = {}): Promise<TestStageApi> {
  const api = await startStageApi(zookeeper.connect, name, env);
  running.push(api);
  return api;
}

const ark = (i: number): string => `ark:/99999/fk4own${i}`;

async function jobsIn(state: "Recording" | "Processing", count = 1, sameArk = false): Promise<readonly JobId[]> {
  const specs = Array.from({ length: count }, (_, i) =>
    aJobSpec({ identifiers: { primary_id: ark(sameArk ? 0 : i), local_id: [] } }),
  );
  const { jobs } = await aBatchOfJobs(tools, specs);
  for (const id of jobs) await advance(zookeeper.connect, id, state);
  return jobs;
}

const stateOf = async (id: JobId | string): Promise<string> => {
  const view = await readJob(tools.session, id as JobId);
  return view.kind === "found" ? view.value.status.status : view.kind;
};
const historyOf = async (id: string) => {
  const node = await tools.session.get(paths.fleetJob(id as JobId));
  const history = records.fleetJob.decode(node.ok ? node.value.data : Buffer.alloc(0));
  if (!history.ok) throw new Error(history.problem);
  return history.value;
};
const metric = async (api: TestStageApi, line: string): Promise<string | undefined> => {
  const text = await (await fetch(`${api.opsUrl}/metrics`)).text();
  return text
    .split("\n")
    .find((each) => each.startsWith(line))
    ?.slice(line.length + 1);
};

describe("a claim", () => {
  test("is of one caller, in its own name, and its word moves the job; said again it is the same", async () => {
    const [id] = await jobsIn("Recording");
    const api = await start();
    const caller = new Caller(api.url);
    const { claim, job } = await caller.take();
    expect(job).toMatchObject({
      ...{ id, attempt: 1, state: "Recording", identifiers: { primary_id: ark(0) } },
      ...{ inventory: null, fence: { epoch: expect.any(Number) as unknown } },
    });
    expect((await new Caller(api.url, "java-2").ask({ wait_ms: 0 })).body).toEqual({
      ...{ claim: null, lease_ms: 60_000, job: null },
    });
    const lock = await tools.session.get(paths.jobLock(id!));
    expect(records.lock.decode(lock.ok ? lock.value.data : Buffer.alloc(0))).toMatchObject({
      value: { owner: "java-1", stage: "recorder" },
    });
    expect((await caller.look(claim)).body).toMatchObject({ held: true, ended: null });
    const first = await caller.of(claim, "done");
    expect(first).toEqual({ status: 200, body: { outcome: "done", state: "Notify", repeated: false } });
    expect(await stateOf(id!)).toBe("Notify");
    const again = await caller.of(claim, "done");
    expect(again).toEqual({ status: 200, body: { outcome: "done", state: "Notify", repeated: true } });
    expect((await historyOf(id!)).events.at(-1)).toMatchObject({ 2: "done", 4: "java-1" });
    const other = await caller.of(claim, "fail", { code: "RECORD_FAILED", message: "no" });
    expect(other).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect((await caller.look(claim)).body).toMatchObject({ held: false, ended: { outcome: "done" } });
    expect((await caller.of(claim, "renew")).status).toBe(410);
  });

  test("is waited for: a job that comes meanwhile is there at once, and nothing is an answer, too", async () => {
    const api = await start();
    const caller = new Caller(api.url);
    expect((await caller.ask({ wait_ms: 0 })).body.claim).toBeNull();
    const waiting = caller.take();
    await waitFor(async () => (await metric(api, 'sluice_stage_api_waiting_takes{stage="recorder"}')) === "1");
    const [id] = await jobsIn("Recording");
    expect((await waiting).job.id).toBe(id);
    expect(await metric(api, 'sluice_stage_api_claims{stage="recorder"}')).toBe("1");
    expect(await metric(api, 'sluice_stage_jobs_in_progress{stage="recorder"}')).toBe("1");
  });

  test("ends as retry, snooze or fail with what they mean for every stage", async () => {
    await jobsIn("Recording");
    const caller = new Caller((await start("stage-api", { ATTEMPTS_MAX: "3" })).url);
    const attempts: number[] = [];
    const next = async (word: string, body: object) => {
      const { claim, job } = await caller.take();
      attempts.push(job.attempt);
      return (await caller.of(claim, word, body)).body;
    };
    const retry = { code: "RECORD_FAILED", message: "the database is silent", delay_ms: 0 };
    expect(await next("retry", retry)).toMatchObject({ outcome: "retry", state: "Recording" });
    expect(await next("snooze", { delay_ms: 0, why: "maintenance" })).toMatchObject({ outcome: "snooze" });
    expect(await next("retry", retry)).toMatchObject({ outcome: "retry" });
    expect(await next("retry", retry)).toMatchObject({ outcome: "fail", state: "Failed" });
    expect(attempts).toEqual([1, 2, 2, 3]);
    const [id] = await jobsIn("Recording");
    const { claim } = await caller.take();
    const failed = await caller.of(claim, "fail", { code: "IDENTIFIER_CONFLICT", message: "etd-1 is another's" });
    expect(failed.body).toMatchObject({ outcome: "fail", state: "Failed" });
    const view = await readJob(tools.session, id!);
    expect(view).toMatchObject({ value: { status: { message: "IDENTIFIER_CONFLICT: etd-1 is another's" } } });
  });

  test("is over with its lease: the job is offered again, the attempt counts, and the late word is refused", async () => {
    await jobsIn("Recording");
    const api = await start();
    const [dead, alive] = [new Caller(api.url, "java-1"), new Caller(api.url, "java-2")];
    const { claim } = await dead.take({ lease_ms: 1_000 });
    const second = await alive.take();
    expect(second.job.attempt).toBe(2);
    for (const [word, body] of [
      ["done", {}],
      ["renew", {}],
      ["record", { changes: {} }],
      ["locks", { locks: [{ kind: "inventory", ark: ark(0) }] }],
    ] as const)
      expect([word, await dead.of(claim, word, body)]).toMatchObject([
        word,
        { status: 410, body: { code: "CLAIM_LOST" } },
      ]);
    expect((await alive.of(second.claim, "done")).body).toMatchObject({ outcome: "done" });
    expect(await dead.of(claim, "done")).toMatchObject({ status: 410 });
    expect(await metric(api, 'sluice_stage_api_leases_expired_total{stage="recorder"}')).toBe("1");
    expect(Number(await metric(api, 'sluice_stage_api_late_calls_total{stage="recorder"}'))).toBeGreaterThan(4);
    expect((await historyOf(second.job.id)).events.map(([, , kind]) => kind)).toContain("takeover");
  });

  test("lasts as long as its caller is heard of", async () => {
    const [id] = await jobsIn("Recording");
    const caller = new Caller((await start()).url);
    const { claim } = await caller.take({ lease_ms: 1_000 });
    const endsMs = performance.now() + 2_500;
    await waitFor(async () => {
      const renewed = await caller.of(claim, "renew", { progress: { done_bytes: 1, total_bytes: 2, note: "half" } });
      expect(renewed).toMatchObject({ status: 200, body: { held: true } });
      return performance.now() > endsMs;
    });
    expect((await caller.of(claim, "renew", { lease_ms: 60_000 })).body["lease_ms"]).toBeGreaterThan(50_000);
    expect((await caller.of(claim, "done")).body).toMatchObject({ state: "Notify" });
    expect((await historyOf(id!)).attempts).toBe(0);
  });

  test("of an operator's job that is failed meanwhile counts no more", async () => {
    const [id] = await jobsIn("Recording");
    const caller = new Caller((await start()).url);
    const { claim } = await caller.take();
    await actOnJob(tools.ctx, { name: "jo", reason: "a test" }, "fail", id!);
    expect(await caller.of(claim, "done")).toMatchObject({ status: 410, body: { code: "CLAIM_LOST" } });
    expect(await stateOf(id!)).toBe("Failed");
  });

  test("locks objects until it ends; a busy one is told", async () => {
    await jobsIn("Recording", 2, true);
    const caller = new Caller((await start()).url);
    const [first, second] = [await caller.take(), await caller.take()];
    const locks = { locks: [{ kind: "inventory", ark: ark(0) }] };
    expect((await caller.of(first.claim, "locks", locks)).body).toEqual({ locked: true });
    expect((await caller.of(second.claim, "locks", locks)).body).toEqual({ locked: false });
    await caller.of(first.claim, "done");
    expect((await caller.of(second.claim, "locks", locks)).body).toEqual({ locked: true });
  });

  test("writes what its own stage writes, and nothing else", async () => {
    const [id] = await jobsIn("Processing");
    const api = await start();
    const processor = new Caller(api.url, "java-1", "processor");
    const { claim } = await processor.take();
    const changes = { identifiers: { primary_id: "ark:/99999/fk4new", local_id: ["a"] } };
    expect((await processor.of(claim, "record", { changes })).status).toBe(200);
    const node = await tools.session.get(paths.jobIdentifiers(id!));
    expect(node.ok ? JSON.parse(node.value.data.toString()) : null).toMatchObject(changes.identifiers);
    const inventory = { manifest_url: "file:///v1", mode: "" };
    expect((await processor.of(claim, "done", { changes: { inventory } })).body).toMatchObject({ state: "Recording" });
    const recorder = new Caller(api.url, "java-1", "recorder");
    const taken = await recorder.take();
    expect(taken.job).toMatchObject({ inventory });
    for (const word of ["record", "done"])
      expect(await recorder.of(taken.claim, word, { changes })).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: "/changes/identifiers" }] },
      });
    expect((await recorder.of(taken.claim, "done", { changes: { message: "recorded" } })).status).toBe(200);
  });
});

describe("a take", () => {
  test("with a key is one take, however often it is asked", async () => {
    await jobsIn("Recording", 3);
    const caller = new Caller((await start()).url);
    const first = await caller.take({}, "take-1");
    expect(await caller.take({}, "take-1")).toEqual(first);
    const other = await caller.take({}, "take-2");
    expect(other.claim).not.toBe(first.claim);
    await caller.of(first.claim, "done");
    expect((await caller.take({}, "take-1")).claim).not.toBe(first.claim);
  });

  test("whose caller hangs up leaves no claim behind, and no attempt", async () => {
    const api = await start();
    const caller = new Caller(api.url);
    const hungUp = new AbortController();
    const asked = caller.ask({}, undefined, hungUp.signal).catch(() => null);
    await waitFor(async () => (await metric(api, 'sluice_stage_api_waiting_takes{stage="recorder"}')) === "1");
    hungUp.abort();
    await asked;
    await waitFor(async () => (await metric(api, 'sluice_stage_api_waiting_takes{stage="recorder"}')) === "0");
    const [id] = await jobsIn("Recording");
    expect((await historyOf(id!)).attempts).toBe(0);
    expect((await caller.take()).job.attempt).toBe(1);
  });

  test("gets nothing while the stage is paused, and the stage says why", async () => {
    await jobsIn("Recording");
    const api = await start();
    const caller = new Caller(api.url);
    const by = { name: "jo", reason: "a test" };
    await setHold(tools.ctx, by, { kind: "stage", stage: "recorder" });
    await waitFor(async () => (await caller.say("", null)).body["closed"]?.toString() === "stage-paused");
    expect((await caller.ask({ wait_ms: 300 })).body.claim).toBeNull();
    await releaseHold(tools.ctx, by, { kind: "stage", stage: "recorder" });
    expect((await caller.take()).job.attempt).toBe(1);
    expect((await caller.say("", null)).body).toMatchObject({
      ...{ stage: "recorder", state: "Recording", waiting: 1, closed: [], may_write: ["message"] },
      workers: [{ worker: "java-1", via: "stage-api" }],
    });
  });

  test("beyond the bounds of a worker or of the process is put off", async () => {
    await jobsIn("Recording", 3);
    const api = await start("stage-api", { CLAIMS_PER_WORKER: "2", WORKERS_MAX: "1" });
    const caller = new Caller(api.url);
    await caller.take();
    await caller.take();
    expect(await caller.ask({ wait_ms: 0 })).toMatchObject({ status: 429 });
    expect(await new Caller(api.url, "java-2").ask({ wait_ms: 0 })).toMatchObject({ status: 429 });
  });
});

describe("a worker", () => {
  test("is registered while it asks, and no longer when it is idle", async () => {
    const api = await start("stage-api", { WORKER_IDLE_MS: "1000" });
    const workers = async () => {
      const listed = await tools.session.children(paths.stageWorkers("recorder"));
      return listed.ok ? listed.value.names : [];
    };
    await new Caller(api.url).ask({ wait_ms: 0 });
    expect(await workers()).toEqual(["java-1"]);
    await waitFor(async () => (await workers()).length === 0);
    expect(await metric(api, 'sluice_stage_api_workers{stage="recorder"}')).toBe("0");
    await jobsIn("Recording");
    await new Caller(api.url).take();
  });

  test("of the stage itself keeps its name", async () => {
    const own = await testWorker(zookeeper.connect, "recorder", { name: "recorder-1" });
    const api = await start();
    expect(await new Caller(api.url, "recorder-1").ask({ wait_ms: 0 })).toMatchObject({ status: 409 });
    await own.close();
  });
});

describe("a token", () => {
  const take = (api: TestStageApi, stage: string, token: ConstructorParameters<typeof Caller>[3]) =>
    new Caller(api.url, "java-1", stage, token).ask({ wait_ms: 0 });

  test("is for its own stages", async () => {
    const api = await start();
    for (const [stage, token, status] of [
      ["recorder", "processor", 403],
      ["recorder", "none", 403],
      ["recorder", "depositor", 403],
      ["recorder", "operator", 403],
      ["notifier", "recorder", 403],
      ["notifier", "all", 404],
      ["provisioner", "all", 404],
      ["recorder", "recorder", 200],
      ["recorder", "admin", 200],
    ] as const)
      expect([stage, token, (await take(api, stage, token)).status]).toEqual([stage, token, status]);
    const [id] = await jobsIn("Recording");
    const { claim } = await new Caller(api.url, "java-9", "recorder", "recorder").take();
    const foreign = new Caller(api.url, "java-1", "processor", "processor");
    expect(await foreign.of(claim, "done")).toMatchObject({ status: 404 });
    expect(await foreign.look(claim)).toMatchObject({ status: 404 });
    expect(await stateOf(id!)).toBe("Recording");
    expect((await fetch(`${api.url}/v1/stages/recorder`)).status).toBe(401);
  });
});

describe("several stage-apis", () => {
  test("are one for their callers: a worker lives at one of them, and the others pass on what is its", async () => {
    const jobs = await jobsIn("Recording", 4);
    const [a, b] = [await start("api-a"), await start("api-b")];
    const [atA, atB] = [new Caller(a.url), new Caller(b.url)];
    const first = await atA.take();
    const second = await atB.take();
    expect(second.claim).toMatch(/\.api-a$/);
    expect((await atB.of(first.claim, "done")).body).toMatchObject({ outcome: "done", repeated: false });
    expect((await atB.of(first.claim, "done")).body).toMatchObject({ repeated: true });
    expect((await atA.of(second.claim, "done")).body).toMatchObject({ outcome: "done" });
    const elsewhere = await new Caller(b.url, "java-2").take();
    expect(elsewhere.claim).toMatch(/\.api-b$/);
    expect((await new Caller(a.url, "java-2").of(elsewhere.claim, "renew")).body).toMatchObject({ held: true });
    expect(await metric(b, 'sluice_stage_api_forwarded_total{outcome="answered"}')).toBe("3");
    expect(jobs).toHaveLength(4);
  });

  test("take a worker over at once from one that stops, and let its claims be ended there", async () => {
    await jobsIn("Recording", 2);
    const [a, b] = [await start("api-a"), await start("api-b")];
    const held = await new Caller(a.url).take();
    a.ring();
    const atB = new Caller(b.url);
    const next = await waitFor(async () => {
      const { status, body } = await atB.ask({ wait_ms: 1_000 });
      return status === 200 && typeof body.claim === "string" ? body.claim : null;
    });
    expect(next).toMatch(/\.api-b$/);
    expect((await atB.of(held.claim, "done")).body).toMatchObject({ outcome: "done", repeated: false });
    expect(await a.ended).toBe(0);
    expect((await atB.of(held.claim, "done")).body).toMatchObject({ repeated: true });
  });

  test("refuse what was in the hands of one that had to stop; the attempt does not count", async () => {
    const [id] = await jobsIn("Recording");
    const [a, b] = [await start("api-a"), await start("api-b")];
    const held = await new Caller(a.url).take();
    a.ring();
    a.ring();
    await a.ended;
    const atB = new Caller(b.url);
    expect(await atB.of(held.claim, "done")).toMatchObject({
      status: 409,
      body: { detail: "its stage-api was stopped" },
    });
    expect((await atB.take()).job).toMatchObject({ id, attempt: 1 });
  });
});
