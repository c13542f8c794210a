/** A batch in somebody's hands: under which hold it is parked, and from whom it was taken over. */
import {
  type BatchId,
  batchUuidFromRandom,
  createBatch,
  makeBatchStore,
  makeExpander,
  makeIdBlocks,
  paths,
  readHolds,
  records,
  releaseHold,
  setHold,
} from "@sluice/queue-core";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { testWorker } from "@sluice/testkit";
import { randomBytes } from "node:crypto";
import { type BatchStage, makeLog, silentLog } from "../src/index.ts";
import { BatchWork } from "../src/duties/batch-work.ts";
import type { Gate } from "../src/engine/gate.ts";
import type { Scope } from "../src/engine/scope.ts";
import { unseenMetrics } from "../src/observe/metrics.ts";
import { World } from "./support/world.ts";

const ACTOR = { stage: "batch-intake", worker: "w-1" };
const IDENTITY = { fleet: "fleet", epoch: 1, history: "fleet" };
const HELD = { kind: "collection", profile: "demo_content" } as const;
const OPERATOR = { name: "ops", reason: "a test" };
const start: BatchStage = {
  kind: "batch-stage",
  takes: "Pending",
  handle: () => Promise.resolve({ kind: "start", rows: 1, digest: "d" }),
};

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(() => world.close());

async function addBatch(): Promise<BatchId> {
  const submission = records.submission.decode(Buffer.from(JSON.stringify({ profile_name: "demo_content" })));
  if (!submission.ok) throw new Error(submission.problem);
  const request = { uuid: batchUuidFromRandom(randomBytes(16)), submission: submission.value, epoch: 1 };
  const made = await createBatch(world.queue, makeIdBlocks(world.queue), request);
  if (made.kind !== "created") throw new Error(made.kind);
  return made.id;
}

test("a batch is not parked under a hold that was released after it was seen", async () => {
  await setHold(world.queue, OPERATOR, HELD);
  const stale = await readHolds(world.session);
  await releaseHold(world.queue, OPERATOR, HELD);
  const id = await addBatch();
  const store = makeBatchStore(world.queue, ACTOR);
  const claim = await store.claim("Pending", id);
  if (!stale.ok || claim.kind !== "acquired") throw new Error("not as it should be");
  let seen = stale;
  const gate = {
    holds: () => Promise.resolve(seen.value),
    holdsChanged: () => undefined,
  } as unknown as Gate;
  const looksAgain = Object.assign(gate, {
    holdsChanged: () => {
      void readHolds(world.session).then((fresh) => fresh.ok && (seen = fresh));
    },
  });
  const scope = {
    actor: ACTOR,
    queue: world.queue,
    identity: IDENTITY,
    settings: { attemptsMax: 5 },
    log: silentLog(),
    metrics: unseenMetrics(),
    failpoint: () => Promise.resolve(),
    random: Math.random,
    aborting: new AbortController().signal,
    gate: looksAgain,
  } as unknown as Scope;
  const expander = makeExpander(world.queue, ACTOR, makeIdBlocks(world.queue), {
    identity: IDENTITY,
    workingDir: () => "",
  });
  const result = await new BatchWork({ scope, duty: start, store, expander }, claim.loaded).run();
  expect(result).toMatchObject({ kind: "later" });
  expect(await world.children(paths.fleetBatchQueue("Held"))).toEqual([]);
  expect(await world.children(paths.fleetBatchQueue("Pending"))).toEqual([id]);
});

describe("a batch whose worker", () => {
  const claimedBy = async (id: BatchId, worker: string) => {
    const claim = await makeBatchStore(world.queue, { ...ACTOR, worker }).claim("Pending", id);
    if (claim.kind !== "acquired") throw new Error(claim.kind);
    return claim.loaded;
  };

  test("was lost is taken over with a line that names it", async () => {
    const id = await addBatch();
    const dying = await testWorker(world.connect, "batch-intake");
    expect(await dying.batches.claim("Pending", id)).toMatchObject({ kind: "acquired" });
    await dying.close();
    const lines: string[] = [];
    const log = makeLog("batch-intake", "info", { write: (line: string) => lines.push(line) });
    const { recorder } = world.start("batch-intake", [start], {}, {}, { log });
    await recorder.until("item", 1, ({ outcome }) => outcome === "start");
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({
        level: "warn",
        msg: "batch taken over: its worker was lost",
        batch_id: id,
        attempt: 2,
        lost_worker: dying.actor.worker,
      }),
    );
  });

  test("gave it back, in order or after a failure, was not lost", async () => {
    const id = await addBatch();
    const store = makeBatchStore(world.queue, ACTOR);
    await store.settle(await claimedBy(id, "a"), { kind: "release", counted: true });
    const second = await claimedBy(id, "b");
    await store.settle(second, { kind: "release" });
    const third = await claimedBy(id, "c");
    expect([second, third].map(({ lease }) => lease.lostWorker)).toEqual([null, null]);
  });
});
