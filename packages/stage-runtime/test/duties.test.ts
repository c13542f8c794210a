import {
  type Batch,
  type BatchId,
  batchUuidFromRandom,
  createBatch,
  type JobSpec,
  makeIdBlocks,
  paths,
  readBatch,
  records,
  setHold,
  type Submission,
} from "@sluice/queue-core";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { startFaultProxy, waitFor } from "@sluice/testkit";
import { randomBytes } from "node:crypto";
import { type BatchStage, consumed, type Inbox, retry, snooze } from "../src/index.ts";
import { World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

const EVERYTHING = { IDLE_POLL_INTERVAL_MS: "600000" };
const submission = (profile: string): Submission => {
  const parsed = records.submission.decode(Buffer.from(JSON.stringify({ profile_name: profile })));
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.value;
};

async function addBatch(profile = "demo_content"): Promise<BatchId> {
  const uuid = batchUuidFromRandom(randomBytes(16));
  const made = await createBatch(world.queue, makeIdBlocks(world.queue), {
    uuid,
    submission: submission(profile),
    epoch: 1,
  });
  if (made.kind !== "created") throw new Error(made.kind);
  return made.id;
}

async function stateOf(id: BatchId): Promise<{ status: string; message: string }> {
  const node = records.batchStatus.decode((await world.data(paths.batchStatus(id)))!);
  if (!node.ok) throw new Error(node.problem);
  return node.value;
}

const spec = (): JobSpec => {
  const configuration = records.jobConfiguration.decode(Buffer.from(JSON.stringify({ profile_name: "demo_content" })));
  if (!configuration.ok) throw new Error(configuration.problem);
  return { priority: 5, configuration: configuration.value, identifiers: null, metadata: null };
};

const starting = (handle: BatchStage["handle"]): BatchStage => ({ kind: "batch-stage", takes: "Pending", handle });
const start = starting(() => Promise.resolve({ kind: "start", rows: 3, digest: "d" }));

describe("a batch stage", () => {
  test("lets collections take turns: fifty batches of one do not delay the one of another", async () => {
    const crowd: BatchId[] = [];
    for (let count = 0; count < 50; count++) crowd.push(await addBatch("crowd_content"));
    const lone = await addBatch("lone_content");
    const order: BatchId[] = [];
    const noting = starting((batch) => {
      order.push(batch.id);
      return Promise.resolve({ kind: "start", rows: 3, digest: "d" });
    });
    const { recorder } = world.start("batch-intake", [noting], { ...EVERYTHING, STAGE_CONCURRENCY: "1" });
    await recorder.until("item", 10);
    expect(order.indexOf(lone)).toBe(1);
    const rest = order.filter((id) => id !== lone);
    expect(rest).toEqual(crowd.slice(0, rest.length));
  });

  test("that must wait is neither claimed nor written, however often it is looked at; then it goes on", async () => {
    const id = await addBatch();
    let why: string | null = "its collection has enough in the queue";
    const handled: BatchId[] = [];
    const waiting: BatchStage = {
      ...starting((batch) => {
        handled.push(batch.id);
        return Promise.resolve({ kind: "start", rows: 3, digest: "d" });
      }),
      mustWait: (profile) => Promise.resolve(profile === "demo_content" ? why : null),
    };
    const versions = async (): Promise<unknown> => {
      const nodes = [paths.batchStatus(id), paths.fleetBatch("Pending", id)].map((path) => world.session.get(path));
      return (await Promise.all(nodes)).map((node) => node.ok && node.value.stat.mzxid);
    };
    const before = await versions();
    const { recorder } = world.start("batch-intake", [waiting], { POLL_INTERVAL_MS: "50" });
    await recorder.until("item", 2, ({ outcome }) => outcome === "waits");
    expect([await versions(), handled]).toEqual([before, []]);
    why = null;
    await recorder.until("item", 1, ({ outcome }) => outcome === "start");
    expect(handled).toEqual([id]);
  });

  test("starts a batch, and expands it into jobs in chunks", async () => {
    const expand: BatchStage = {
      kind: "batch-stage",
      takes: "Processing",
      wants: ({ expansion }) => expansion !== null && expansion.created < expansion.rows,
      async handle(_batch: Batch, ctx) {
        let { loaded } = ctx;
        expect(await ctx.expansionMustWait()).toBeNull();
        while (loaded.batch.expansion!.created < loaded.batch.expansion!.rows) {
          const added = await ctx.addJobs(loaded, [spec()]);
          if (added.kind !== "added") throw new Error(added.kind);
          loaded = added.loaded;
        }
        return { kind: "release" };
      },
    };
    const { recorder } = world.start("batch-intake", [start, expand], EVERYTHING);
    const id = await addBatch();
    await recorder.until("item", 1, ({ duty, outcome }) => duty === "batches Processing" && outcome === "release");
    expect(await stateOf(id)).toMatchObject({ status: "Processing" });
    expect(await world.children(paths.queue("Pending"))).toHaveLength(3);
    expect(await world.data(paths.batchLock(id))).toBeNull();
    expect(await readBatch(world.session, id)).toBeDefined();
  });

  test("parks a batch of a held collection, without handling it", async () => {
    await setHold(world.queue, { name: "ops", reason: "r" }, { kind: "collection", profile: "held_content" });
    const id = await addBatch("held_content");
    const { recorder } = world.start("batch-intake", [start], EVERYTHING);
    expect(await recorder.until("item")).toMatchObject([{ item: id, outcome: "park" }]);
    expect(await stateOf(id)).toMatchObject({ status: "Held", message: "collection held_content is held" });
  });

  test("parks a batch whose collection is held while it is being validated", async () => {
    const id = await addBatch();
    const stage = starting(async () => {
      await setHold(world.queue, { name: "ops", reason: "r" }, { kind: "collection", profile: "demo_content" });
      return { kind: "start", rows: 1, digest: "" };
    });
    const { recorder } = world.start("batch-intake", [stage], EVERYTHING);
    expect(await recorder.until("item")).toMatchObject([{ item: id, outcome: "park" }]);
    expect(await stateOf(id)).toMatchObject({ status: "Held" });
  });

  test("tries again after a passing failure, and fails the batch after the last attempt", async () => {
    const id = await addBatch();
    const stage = starting(() => Promise.resolve(retry("MANIFEST_UNREACHABLE", "503", 1)));
    const { recorder } = world.start("batch-intake", [stage], { ...EVERYTHING, ATTEMPTS_MAX: "3" });
    const items = await recorder.until("item", 3);
    expect(items.map(({ outcome }) => outcome)).toEqual(["retry", "retry", "fail"]);
    expect(await stateOf(id)).toMatchObject({
      status: "Failed",
      message: "MANIFEST_UNREACHABLE: given up after 3 attempts: 503",
    });
  });

  test("snoozes as often as it takes, which is no failure", async () => {
    const id = await addBatch();
    let turns = 0;
    const stage = starting(() =>
      Promise.resolve(++turns < 8 ? snooze(1, "the queue is full") : { kind: "start", rows: 0, digest: "" }),
    );
    const { recorder } = world.start("batch-intake", [stage], { ...EVERYTHING, ATTEMPTS_MAX: "2" });
    await recorder.until("item", 1, ({ outcome }) => outcome === "start");
    expect([turns, (await stateOf(id)).status]).toEqual([8, "Processing"]);
  });

  test("is worked by one of two workers", async () => {
    const id = await addBatch();
    let worked = 0;
    const stage = starting(() => {
      worked += 1;
      return Promise.resolve({ kind: "start", rows: 1, digest: "" });
    });
    const fleet = [world.start("batch-intake", [stage]), world.start("batch-intake", [stage])];
    await Promise.race(fleet.map(({ recorder }) => recorder.until("item", 1, ({ outcome }) => outcome === "start")));
    for (const { recorder } of fleet) await recorder.until("idle", recorder.all("idle").length + 2);
    expect([worked, (await stateOf(id)).status]).toEqual([1, "Processing"]);
  });
});

describe("an inbox", () => {
  const PATH = paths.callbacks;
  const inbox = (handle: Inbox["handle"], exclusive = true): Inbox => ({
    kind: "inbox",
    name: "callbacks",
    path: PATH,
    exclusive,
    handle,
  });
  const leave = (name: string): Promise<void> =>
    world.write([{ op: "create", path: `${PATH}/${name}`, data: Buffer.from(`for ${name}`) }]);

  test("acts upon each item once, also with two workers, and leaves nothing behind", async () => {
    const told: string[] = [];
    const duty = inbox(({ name, data }) => {
      told.push(`${name}: ${data.toString()}`);
      return Promise.resolve(consumed);
    });
    world.start("notifier", [duty]);
    world.start("notifier", [duty]);
    for (const name of ["a", "b", "c", "d"]) await leave(name);
    await waitFor(async () => (await world.children(PATH)).length === 0);
    expect(told.sort()).toEqual(["a: for a", "b: for b", "c: for c", "d: for d"]);
  });

  test("writes what an item leaves behind in the move that takes it away, planned anew where it came too late", async () => {
    const note = "/fleet/callbacks-note";
    await world.write([{ op: "create", path: note, data: Buffer.from("") }]);
    let handled = 0;
    const versions = [7, 0, 7, 7, 7, 7, 7];
    const duty = inbox(({ name }) => {
      handled += 1;
      const leaving = () =>
        Promise.resolve([{ op: "set", path: note, data: Buffer.from(name), version: versions.shift()! } as const]);
      return Promise.resolve({ kind: "consumed", leaving });
    });
    const { recorder } = world.start("notifier", [duty]);
    const read = async (): Promise<string> => {
      const node = await world.session.get(note);
      return node.ok ? node.value.data.toString() : node.code;
    };
    await leave("a");
    await recorder.until("item", 1);
    expect([handled, await read(), await world.children(PATH)]).toEqual([1, "a", []]);
    // It never fits: the item goes all the same, and is not handled again.
    await leave("b");
    await recorder.until("item", 2);
    expect([handled, await read(), await world.children(PATH)]).toEqual([2, "a", []]);
  });

  test("keeps an item that has to wait, unlocked, and comes back to it", async () => {
    await leave("a");
    const outcomes = [snooze(1, "later"), retry("CALLBACK_FAILED", "503", 1), consumed];
    const { recorder } = world.start("notifier", [inbox(() => Promise.resolve(outcomes.shift() ?? consumed))]);
    const items = await recorder.until("item", 3);
    expect(items.map(({ outcome }) => outcome)).toEqual(["snooze", "retry", "consumed"]);
    expect(await world.children(PATH)).toEqual([]);
  });

  test("does not touch a new item that took the name of the one just handled", async () => {
    await leave("a");
    let turns = 0;
    const duty = inbox(async () => {
      if (++turns > 1) return snooze(600_000, "enough");
      await world.write([{ op: "delete", path: `${PATH}/a`, version: 0 }]);
      await leave("a");
      return consumed;
    }, false);
    const { recorder } = world.start("reporter", [duty]);
    await recorder.until("item", 2);
    expect(await world.children(PATH)).toEqual(["a"]);
  });

  test.each([
    ["getData", "cutBefore"],
    ["getData", "cutAfterForward"],
    ["multi", "cutAfterForward"],
  ] as const)("handles its item in the same session when a %s is lost (%s)", async (opcode, verdict) => {
    const proxy = await startFaultProxy(world.connect);
    let cuts = 0;
    proxy.onRequest((frame) => {
      const isIt = frame.opcode === opcode && frame.bytes.includes(`${PATH}/a`);
      return isIt && cuts++ === 0 ? verdict : "pass";
    });
    await leave("a");
    const { recorder } = world.start("notifier", [inbox(() => Promise.resolve(consumed))], {
      ZOOKEEPER_CONNECT: proxy.connect,
      ZK_SESSION_TIMEOUT_MS: "20000",
    });
    await recorder.until("item", 1, ({ outcome }) => outcome === "consumed");
    expect(cuts).toBeGreaterThan(0);
    expect(recorder.all("session")).toEqual([{ kind: "session", state: "started" }]);
    expect(await world.children(PATH)).toEqual([]);
    await world.close();
    await proxy.close();
    world = await World.make();
  });

  test("lets go of its lock though the first try to drop it is lost", async () => {
    const proxy = await startFaultProxy(world.connect);
    let handled = false;
    proxy.onRequest(({ opcode, bytes }) => {
      if (!handled || opcode !== "multi" || !bytes.includes(`${PATH}/a/lock`)) return "pass";
      handled = false;
      return "cutBefore";
    });
    await leave("a");
    const stage = inbox(() => {
      handled = true;
      return Promise.resolve(snooze(600_000, "later"));
    });
    const { recorder } = world.start("notifier", [stage], {
      ZOOKEEPER_CONNECT: proxy.connect,
      ZK_SESSION_TIMEOUT_MS: "20000",
    });
    await recorder.until("item", 1, ({ outcome }) => outcome === "snooze");
    expect(handled).toBe(false);
    expect(await world.children(`${PATH}/a`)).toEqual([]);
    await world.close();
    await proxy.close();
    world = await World.make();
  });

  test("takes a throw for a passing failure", async () => {
    await leave("a");
    const { recorder } = world.start("notifier", [inbox(() => Promise.reject(new Error("boom")))]);
    expect(await recorder.until("item")).toMatchObject([{ item: "a", outcome: "retry" }]);
    expect(await world.children(`${PATH}/a`)).toEqual([]);
  });
});
