import { actOnJob, type JobId, paths, records } from "@sluice/queue-core";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { done, type JobContext, type Outcome, snooze } from "../src/index.ts";
import { downloading, type RunningService, World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

const IDENTIFIERS = { primary_id: "ark:/99999/fk4x", local_id: [] };
const LOCK = { kind: "storage", ark: "ark:/99999/fk4x" } as const;

async function run(handle: (ctx: JobContext, id: JobId, opsUrl: () => string) => Promise<Outcome>) {
  const id = await world.addJob({ number: 1 });
  const running: RunningService = world.start("downloader", [
    downloading((job, ctx) => handle(ctx, job.id, () => running.service.opsUrl ?? "")),
  ]);
  const [settled] = await running.recorder.settled();
  return { id, settled };
}

describe("the context of a job's handler", () => {
  test("writes findings down at once, several in a row, and the commit still fits", async () => {
    const seen: unknown[] = [];
    const { settled, id } = await run(async (ctx, job) => {
      const written = await Promise.all([
        ctx.record({ identifiers: IDENTIFIERS }),
        ctx.record({ identifiers: { ...IDENTIFIERS, local_id: ["l"] } }),
      ]);
      seen.push(written, records.identifiers.decode((await world.data(paths.jobIdentifiers(job)))!));
      return done({ identifiers: { ...IDENTIFIERS, local_id: ["l", "m"] } });
    });
    expect(seen).toMatchObject([[true, true], { value: { local_id: ["l"] } }]);
    expect(settled).toMatchObject({ outcome: "done" });
    expect(String(await world.data(paths.jobIdentifiers(id)))).toContain('["l","m"]');
  });

  test("says that a job is no longer ours when an operator took it, and its outcome does not count", async () => {
    const seen: unknown[] = [];
    const { settled, id } = await run(async (ctx, job) => {
      const failed = await actOnJob(world.queue, { name: "ops", reason: "r" }, "fail", job);
      seen.push(failed.kind, await ctx.record({ identifiers: IDENTIFIERS }));
      return done();
    });
    expect(seen).toEqual(["applied", false]);
    expect(settled).toMatchObject({ outcome: "lost", to: null });
    expect(await world.status(id)).toMatchObject({ status: "Failed" });
  });

  test("holds object locks while the job is worked, and lets them go when it is settled", async () => {
    const seen: unknown[] = [];
    const { settled } = await run(async (ctx) => {
      seen.push(await ctx.lockObjects([LOCK]), await ctx.lockObjects([LOCK, { kind: "inventory", ark: LOCK.ark }]));
      seen.push((await world.data(paths.storageLock(LOCK.ark))) !== null);
      return done();
    });
    expect(seen).toEqual([true, true, true]);
    expect(settled).toMatchObject({ outcome: "done" });
    expect(await world.children(paths.storageLocks)).toEqual([]);
    expect(await world.children(paths.inventoryLocks)).toEqual([]);
  });

  test("takes all locks or none", async () => {
    await world.write([{ op: "create", path: paths.storageLock(LOCK.ark), data: Buffer.from("{}"), ephemeral: true }]);
    const { settled } = await run(async (ctx) => {
      const got = await ctx.lockObjects([{ kind: "inventory", ark: LOCK.ark }, LOCK]);
      return got ? done() : snooze(60_000, "busy");
    });
    expect(settled).toMatchObject({ outcome: "snooze" });
    expect(await world.children(paths.inventoryLocks)).toEqual([]);
  });

  test("shows progress to people", async () => {
    let shown = "";
    await run(async (ctx, _id, opsUrl) => {
      ctx.progress({ doneBytes: 5, totalBytes: 10, note: "half" });
      shown = await (await fetch(`${opsUrl()}/progress`)).text();
      return done();
    });
    expect(JSON.parse(shown)).toMatchObject({ jobs: [{ progress: { doneBytes: 5, totalBytes: 10, note: "half" } }] });
  });
});
