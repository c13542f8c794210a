/** Workers elsewhere, for whom a process claims: as members of their stage, under its rules. */
import { endOfClaim, type Job, paths, records } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  done,
  type Guest,
  type HiredGuest,
  type JobContext,
  type JobStage,
  type Outcome,
  retry,
} from "../src/index.ts";
import type { ServiceParts, Settled } from "../src/index.ts";
import { workerDied } from "../src/index.ts";
import { type RunningService, World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

interface InHand {
  readonly job: Job;
  readonly ctx: JobContext;
  readonly say: (outcome: Outcome) => void;
}

/** A caller of another process: as many jobs as it asked for are handed to it. */
class Caller {
  readonly jobs: InHand[] = [];
  readonly settled: Settled[] = [];
  readonly duty: JobStage;
  #places = 0;
  #tell: () => void = () => undefined;

  constructor() {
    this.duty = {
      kind: "job-stage",
      takes: "Recording",
      places: { count: () => this.#places, onMore: (listener) => (this.#tell = listener) },
      handle: (job, ctx) =>
        new Promise((say) => {
          this.jobs.push({ job, ctx, say });
          ctx.signal.addEventListener("abort", () => say(retry("UNEXPECTED", "aborted")));
        }),
      settled: (_job, how) => void this.settled.push(how),
    };
  }

  ask(count: number): void {
    this.#places += count;
    this.#tell();
  }

  async taken(count: number): Promise<readonly InHand[]> {
    await waitFor(() => this.jobs.length >= count, { what: `${count} jobs taken` });
    return this.jobs;
  }
}

const guestOf = (worker: string, { duty }: Caller): Guest => ({
  ...{ stage: "recorder", worker, duty, concurrency: 100 },
  ...{ host: "10.1.2.3", version: "java/1" },
});

/** A service without duties, and its way to hire. */
async function start(name = "stage-api"): Promise<{ running: RunningService; hire: ServiceParts["hire"] }> {
  let hire: ServiceParts["hire"] = () => null;
  const duties = (parts: ServiceParts) => {
    ({ hire } = parts);
    return [];
  };
  const running = world.start(name, duties, { WORKER_ID: name }, { url: () => "http://127.0.0.1:8083" });
  await running.recorder.until("session");
  return { running, hire: (guest) => hire(guest) };
}

async function hired(hire: ServiceParts["hire"], worker: string, caller: Caller): Promise<HiredGuest> {
  const guest = hire(guestOf(worker, caller));
  expect(await guest?.entered).toBe("in");
  return guest!;
}

const workers = (): Promise<readonly string[]> => world.children(paths.stageWorkers("recorder"));
const recording = (count: number) => world.addJobs(count, { state: "Recording" });

describe("a worker elsewhere", () => {
  test("is registered by its own name, with the process that claims for it", async () => {
    const { hire } = await start();
    const guest = await hired(hire, "java-1", new Caller());
    const node = records.worker.decode((await world.data(paths.worker("recorder", "java-1")))!);
    const via = { worker: "stage-api" };
    expect(node).toMatchObject({ ok: true, value: { host: "10.1.2.3", version: "java/1", pid: 0, via } });
    const self = records.worker.decode((await world.data(paths.worker("stage-api", "stage-api")))!);
    expect(self).toMatchObject({ value: { url: "http://127.0.0.1:8083" } });
    await guest.leave();
    expect(guest.over.aborted).toBe(true);
    expect(await workers()).toEqual([]);
    await hired(hire, "java-1", new Caller());
    expect(await workers()).toEqual(["java-1"]);
  });

  test("gets no more jobs than it asked for, in its own name, and its word moves them", async () => {
    const ids = await recording(5);
    const { hire } = await start();
    const caller = new Caller();
    await hired(hire, "java-1", caller);
    caller.ask(2);
    const [first] = await caller.taken(2);
    expect(records.lock.decode((await world.data(paths.jobLock(first!.job.id)))!)).toMatchObject({
      value: { owner: "java-1", stage: "recorder", claim: first!.ctx.claimId },
    });
    first!.say(done());
    await waitFor(() => caller.settled.length === 1);
    expect(caller.settled).toEqual([{ claimId: first!.ctx.claimId, as: "done", to: "Notify", why: "" }]);
    expect((await world.status(first!.job.id)).status).toBe("Notify");
    // A place that was given back is taken again: two in hand, of five.
    await caller.taken(3);
    expect(new Set(caller.jobs.map(({ job }) => job.id)).size).toBe(3);
    expect(ids).toEqual(expect.arrayContaining(caller.jobs.map(({ job }) => job.id)));
  });

  test("shares the queue with the stage's own processes", async () => {
    await recording(20);
    const { hire } = await start();
    const caller = new Caller();
    await hired(hire, "java-1", caller);
    const own: string[] = [];
    const duty: JobStage = {
      kind: "job-stage",
      takes: "Recording",
      handle: (job) => Promise.resolve(own.push(job.id)).then(() => done()),
    };
    caller.ask(3);
    await caller.taken(3);
    const recorder = world.start("recorder", [duty], { WORKER_ID: "ours" });
    await recorder.recorder.settled(17);
    expect(own.filter((id) => caller.jobs.some(({ job }) => job.id === id))).toEqual([]);
    expect(await workers()).toEqual(expect.arrayContaining(["java-1", "ours"]));
  });

  test("that died leaves its job as a dead process does: at once, with the attempt counted, for the next to be told", async () => {
    const [id] = await recording(1);
    const { hire } = await start();
    const caller = new Caller();
    await hired(hire, "java-1", caller);
    caller.ask(1);
    const [first] = await caller.taken(1);
    first!.say(workerDied("its lease ran out"));
    const [, second] = await caller.taken(2);
    expect(caller.settled).toMatchObject([{ as: "lost", to: null, why: "its lease ran out" }]);
    expect(second!.job).toMatchObject({ id, attempt: 2 });
    expect((await world.fleetJob(id!)).events.at(-1)).toMatchObject({ 2: "takeover", 5: "its worker java-1 was lost" });
    second!.say(retry("RECORD_FAILED", "no answer", 0));
    const [, , third] = await caller.taken(3);
    expect(third!.job.attempt).toBe(3);
  });

  test("is drained and paused as others are", async () => {
    await world.write([{ op: "create", path: paths.drain("java-1"), data: Buffer.from("{}") }]);
    await recording(3);
    const { running, hire } = await start();
    const [drained, other] = [new Caller(), new Caller()];
    await hired(hire, "java-1", drained);
    await hired(hire, "java-2", other);
    drained.ask(1);
    other.ask(1);
    await other.taken(1);
    await running.recorder.until("closed", 1, ({ duty }) => duty === "jobs Recording of java-1");
    expect(drained.jobs).toEqual([]);
  });

  test("is found by any process to have ended its claim, and how", async () => {
    const [id] = await recording(1);
    const { hire } = await start();
    const caller = new Caller();
    await hired(hire, "java-1", caller);
    caller.ask(1);
    const [taken] = await caller.taken(1);
    expect(endOfClaim(await world.fleetJob(id!), taken!.ctx.claimId)).toBeNull();
    taken!.say(done());
    await waitFor(() => caller.settled.length === 1);
    expect(endOfClaim(await world.fleetJob(id!), taken!.ctx.claimId)).toMatchObject({ kind: "done", by: "java-1" });
  });

  test("finishes what it has when its process ends; its name is free at once", async () => {
    await recording(2);
    const { running, hire } = await start();
    const caller = new Caller();
    await hired(hire, "java-1", caller);
    caller.ask(1);
    const [taken] = await caller.taken(1);
    running.service.ring();
    await waitFor(async () => (await workers()).length === 0);
    expect(hire(guestOf("java-2", new Caller()))).toBeNull();
    expect(taken!.ctx.signal.aborted).toBe(false);
    const { hire: elsewhere } = await start("stage-api-2");
    await hired(elsewhere, "java-1", new Caller());
    taken!.say(done());
    expect(await running.code).toBe(0);
    expect((await world.status(taken!.job.id)).status).toBe("Notify");
  });

  test("is over when its process has to stop: what it has is handed back, uncounted", async () => {
    const [id] = await recording(1);
    const { running, hire } = await start();
    const caller = new Caller();
    const guest = await hired(hire, "java-1", caller);
    caller.ask(1);
    await caller.taken(1);
    running.service.ring();
    running.service.ring();
    expect(await running.code).toBe(0);
    expect(guest.over.aborted).toBe(true);
    expect(caller.settled).toMatchObject([{ as: "handback" }]);
    expect((await world.fleetJob(id!)).attempts).toBe(0);
  });

  test("whose name a live worker has is told so", async () => {
    const duty: JobStage = { kind: "job-stage", takes: "Recording", handle: () => Promise.resolve(done()) };
    const own = world.start("recorder", [duty], { WORKER_ID: "java-1", ZK_SESSION_TIMEOUT_MS: "4000" });
    await own.recorder.until("session");
    let hire: ServiceParts["hire"] = () => null;
    const api = world.start("stage-api", (parts) => (({ hire } = parts), []), { ZK_SESSION_TIMEOUT_MS: "4000" });
    await api.recorder.until("session");
    const guest = hire(guestOf("java-1", new Caller()));
    expect(await guest?.entered).toBe("name-taken");
  });
});
