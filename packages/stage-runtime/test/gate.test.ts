import {
  holdsGuard,
  load,
  makeJobStore,
  makeSpaceReader,
  paths,
  peek,
  readHolds,
  releaseHold,
  setHold,
} from "@sluice/queue-core";
import { type Session, systemClock } from "@sluice/zookeeper";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Duty, done } from "../src/index.ts";
import { Gate } from "../src/engine/gate.ts";
import { Members } from "../src/engine/members.ts";
import type { Scope } from "../src/engine/scope.ts";
import { HoldPassage } from "../src/jobs/hold-passage.ts";
import { Settler } from "../src/jobs/settlement.ts";
import type { JobTask } from "../src/jobs/task.ts";
import { downloading, World } from "./support/world.ts";

const operator = { name: "ops", reason: "a test" };
const pending: Duty = { kind: "job-stage", takes: "Pending", handle: () => Promise.resolve(done()) };
const download = downloading(() => Promise.resolve(done()));

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

describe("holds", () => {
  test("park a job of a held collection without working it, and let the others go on", async () => {
    await setHold(world.queue, operator, { kind: "collection", profile: "held_content" });
    const held = await world.addJob({ number: 1, state: "Pending", profile: "held_content" });
    const free = await world.addJob({ number: 2, state: "Pending" });
    let worked = 0;
    const { recorder } = world.start("batch-intake", [
      {
        kind: "job-stage",
        takes: "Pending",
        handle: () => {
          worked += 1;
          return Promise.resolve(done());
        },
      },
    ]);
    await recorder.settled(2);
    expect(await world.status(held)).toMatchObject({
      status: "Held",
      message: "collection held_content is held",
      last_successful_status: null,
    });
    expect(await world.status(free)).toMatchObject({ status: "Estimating" });
    expect(worked).toBe(1);
  });

  test("that come while a job is being worked are obeyed at its commit", async () => {
    const id = await world.addJob({ number: 1, state: "Pending" });
    const { recorder } = world.start("batch-intake", [
      {
        kind: "job-stage",
        takes: "Pending",
        handle: async () => {
          await setHold(world.queue, operator, { kind: "collection", profile: "demo_content" });
          return done();
        },
      },
    ]);
    expect(await recorder.settled()).toMatchObject([{ job: id, outcome: "park", to: "Held" }]);
  });

  test("of another collection that come meanwhile cost a second try, not the job", async () => {
    const id = await world.addJob({ number: 1, state: "Pending" });
    const { recorder } = world.start("batch-intake", [
      {
        kind: "job-stage",
        takes: "Pending",
        handle: async () => {
          await setHold(world.queue, operator, { kind: "collection", profile: "other" });
          return done();
        },
      },
    ]);
    expect(await recorder.settled()).toMatchObject([{ job: id, outcome: "done", to: "Estimating" }]);
  });
});

describe("holds and pauses that Merritt's tools made, which count no counter", () => {
  const raw = (op: "create" | "delete", path: string) =>
    world.session.multi([op === "create" ? { op, path, data: Buffer.alloc(0) } : { op, path, version: 0 }]);

  test.each([
    [
      "a collection's hold",
      paths.collectionHold("demo_content"),
      (gate: Gate) => gate.holds().then((h) => h?.collections.has("demo_content") === true),
    ],
    [
      "the pause of the queue",
      paths.queuePause,
      (gate: Gate) => gate.closedBecause().then((why) => why === "queue-paused"),
    ],
  ])("%s is seen by a watch when it comes and when it goes", async (_what, path, isSeen) => {
    // Its clock stands still: nothing is read again for its age.
    const gate = new Gate(
      world.session,
      { stage: "batch-intake", worker: "w" },
      { ...systemClock, monotonicMs: () => 0 },
    );
    expect(await isSeen(gate)).toBe(false);
    for (const [op, seen] of [
      ["create", true],
      ["delete", false],
      ["create", true],
    ] as const) {
      const told = new Promise<void>((resolve) => gate.onChange(resolve));
      expect(await raw(op, path)).toMatchObject({ ok: true });
      await told;
      expect(await isSeen(gate)).toBe(seen);
    }
  });
});

test("a job is not parked under a hold that was released after it was seen", async () => {
  const target = { kind: "collection", profile: "demo_content" } as const;
  await setHold(world.queue, operator, target);
  const id = await world.addJob({ number: 1, state: "Pending" });
  const stale = await readHolds(world.session);
  await releaseHold(world.queue, operator, target);
  const store = makeJobStore(world.queue, { stage: "batch-intake", worker: "w" });
  const looked = await peek(world.session, "Pending", [{ id, priority: 10 }]);
  const candidate = looked.ok ? looked.value[0] : undefined;
  const claimed = candidate?.kind === "ready" ? await store.claim(candidate) : null;
  const loaded =
    claimed?.kind === "acquired"
      ? await load(world.session, [claimed.lease], { fleet: "fleet", epoch: 1, history: "fleet" })
      : null;
  const job = loaded?.ok === true ? loaded.value[0] : undefined;
  if (!stale.ok || job?.ok !== true) throw new Error("the job was not claimed");
  let seen = stale;
  const passage = new HoldPassage({
    holdsChanged: () => undefined,
    holds: async () => {
      const now = seen;
      const fresh = await readHolds(world.session);
      if (fresh.ok) seen = fresh;
      return now.value;
    },
  } as unknown as Gate);
  const task = { loaded: job.value, log: { warn: () => undefined }, releaseLocks: () => Promise.resolve() };
  const settler = new Settler({ queue: world.queue } as unknown as Scope, store, passage);
  const parked = { kind: "end", ending: { kind: "park", why: "held" } } as const;
  expect(await settler.settle(task as unknown as JobTask, parked)).toMatchObject({ as: "snooze" });
  expect(await world.status(id)).toMatchObject({ status: "Pending" });
  expect(holdsGuard(seen.value)).not.toEqual(holdsGuard(stale.value));
});

describe("an error instead of a list", () => {
  const failing = (path: string): Session =>
    new Proxy(world.session, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (key !== "readMany") return typeof value === "function" ? (value.bind(target) as unknown) : value;
        return (reads: Parameters<Session["readMany"]>[0]) =>
          reads.some((read) => Object.values(read).includes(path))
            ? Promise.resolve({ ok: false, code: "SERVER_ERROR", detail: path })
            : target.readMany(reads);
      },
    });

  test("is not a list without holds", async () => {
    for (const path of [paths.collectionLocks, paths.queueLocks, paths.pausedStages])
      expect(await readHolds(failing(path))).toMatchObject({ ok: false });
    expect((await readHolds(world.session)).ok).toBe(true);
  });

  test("is not a volume without promises", async () => {
    const id = await world.addJob({ number: 1, state: "Downloading", spaceNeeded: 5 });
    for (const path of [paths.queue("Downloading"), paths.jobSpaceNeeded(id)])
      expect(await makeSpaceReader(failing(path)).read()).toBeNull();
    expect(await makeSpaceReader(world.session).read()).toMatchObject({ reservedBytes: 5 });
  });
});

test("a worker that cannot list the others goes by those that it knew, and does not take itself for the only one", async () => {
  const clock = { nowMs: () => Date.now(), monotonicMs: () => at.nowMs };
  const at = { nowMs: 0, silent: false };
  const silence = { ok: false, code: "UNKNOWN", detail: "" } as const;
  const session = {
    children: (path: string) =>
      Promise.resolve(
        at.silent ? silence : { ok: true, value: { names: path === paths.drains ? ["w-c"] : ["w-a", "w-b", "w-c"] } },
      ),
    readMany: (reads: readonly unknown[]) => Promise.resolve({ ok: true, value: reads.map(() => ({ kind: "none" })) }),
  } as unknown as Session;
  const members = new Members(session, { stage: "downloader", worker: "w-a" }, clock, Math.random);
  expect(await members.list()).toEqual(["w-a", "w-b"]);
  Object.assign(at, { nowMs: 3_600_000, silent: true });
  expect(await members.list()).toEqual(["w-a", "w-b"]);
});

describe("claims are closed", () => {
  test.each([
    ["queue-paused", { kind: "queue" }],
    ["stage-paused", { kind: "stage", stage: "downloader" }],
  ] as const)("while an operator has it %s, and open again at once after", async (why, target) => {
    const { recorder } = world.start("downloader", [download], { IDLE_POLL_INTERVAL_MS: "600000" });
    await recorder.until("idle");
    await setHold(world.queue, operator, target);
    await recorder.until("closed", 1, (event) => event.why === why);
    const id = await world.addJob({ number: 1 });
    await recorder.until("closed", 3);
    expect(recorder.all("claimed")).toEqual([]);
    await releaseHold(world.queue, operator, target);
    expect(await recorder.settled()).toMatchObject([{ job: id }]);
  });

  test("for a worker that is drained, and not for the others", async () => {
    const drained = world.start("downloader", [download], { WORKER_ID: "tired" });
    await drained.recorder.until("idle");
    await world.write([{ op: "create", path: paths.drain("tired"), data: Buffer.from("{}") }]);
    await drained.recorder.until("closed", 1, ({ why }) => why === "drained");
    const other = world.start("downloader", [download]);
    await world.addJobs(5);
    await other.recorder.settled(5);
    expect(drained.recorder.all("claimed")).toEqual([]);
  });

  test("but a stage of another name goes on", async () => {
    await setHold(world.queue, operator, { kind: "stage", stage: "downloader" });
    const id = await world.addJob({ number: 1, state: "Pending" });
    const { recorder } = world.start("batch-intake", [pending]);
    expect(await recorder.settled()).toMatchObject([{ job: id, outcome: "done" }]);
  });
});
