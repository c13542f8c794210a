/** What grows with the number of jobs, and must not. */
import { jobId, paths } from "@sluice/queue-core";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { type BatchStage, snooze } from "../src/index.ts";
import { ItemRetries } from "../src/duties/item-retries.ts";
import { HungSweeps } from "../src/engine/hung-sweeps.ts";
import { InHand } from "../src/engine/in-hand.ts";
import type { Scope } from "../src/engine/scope.ts";
import { Registration } from "../src/service/registration.ts";
import { World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

test("the node of a worker with 1,000 jobs in hand stays below 64 KB", async () => {
  const inHand = new InHand(world.queue.clock);
  const actor = { stage: "downloader", worker: "w" };
  const settings = { concurrency: 1_000 };
  const scope = { actor, queue: world.queue, inHand, hung: new HungSweeps(), settings } as unknown as Scope;
  const parts = { scope, version: "1", instance: "instance" };
  const registration = new Registration({ ...parts, isDraining: () => false, onNameTaken: () => undefined });
  for (let number = 1; number <= 1_000; number++) {
    inHand.take(jobId(number), "bid0000000001", 1, "demo_content");
    inHand.show(jobId(number), { doneBytes: 2 ** 50, totalBytes: 2 ** 51, note: "x".repeat(500) });
  }
  expect(await registration.enter()).toBe(true);
  expect((await world.data(paths.worker("downloader", "w")))!.length).toBeLessThan(64 * 1024);
});

test("which of 14,000 batches want work is read in parts that ZooKeeper takes", async () => {
  const created = Array.from({ length: 14_000 }, (_, i) => `bid${String(i + 10).padStart(10, "0")}`);
  for (let i = 0; i < created.length; i += 1_000)
    await world.write(
      created
        .slice(i, i + 1_000)
        .map((id) => ({ op: "create", path: `${paths.fleetBatchQueue("Processing")}/${id}`, data: Buffer.alloc(0) })),
    );
  let asked = 0;
  const stage: BatchStage = {
    kind: "batch-stage",
    takes: "Processing",
    wants: ({ expansion }) => expansion === null && ++asked < 0,
    handle: () => Promise.resolve(snooze(1, "never")),
  };
  world.start("batch-intake", [stage]);
  await waitFor(() => asked >= created.length);
});

test("failures are counted per item, and those of items long gone are forgotten", () => {
  const retries = new ItemRetries(() => 0);
  expect([retries.failed("a"), retries.failed("a")]).toEqual([1, 2]);
  for (let i = 0; i < 10_000; i++) retries.failed(`other ${i}`);
  expect(retries.failed("a")).toBe(1);
});
