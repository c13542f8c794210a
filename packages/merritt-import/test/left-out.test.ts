/** What an import leaves out stays as it is, whatever runs on the tree, until a later import takes it in. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { fsck, repair } from "@sluice/fsck";
import { initTree, parseBatchId, paths, peek, type QueueContext, sortEntries, sweepEntry } from "@sluice/queue-core";
import { testZooKeeper, tree } from "@sluice/testkit";
import { bring, look, oldConfiguration, type OldQueue, OPERATOR, openTarget, plantQueue, uuid } from "./support.ts";

let connect: string;
let old: OldQueue;
let ctx: QueueContext;
let leftOut: { readonly batch: string; readonly jobs: readonly string[] };

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  old = await plantQueue(connect);
  ctx = await openTarget(connect);
  leftOut = await plantUnbringable(old);
});
afterEach(async () => {
  await old.cdl.close();
  await ctx.session.close();
});

/** A batch that says Reporting, as theirs do while their jobs run; the file of one of its jobs is in no folder. */
async function plantUnbringable({ cdl }: OldQueue) {
  const submission = { batchID: `bid-${uuid(7)}`, profile: "p", type: "file", filename: "x.zip" };
  const batch = await cdl.createBatch({ submission, status: "Reporting" });
  const configuration = oldConfiguration(30, { payload_url: undefined, filename: "x.zip" });
  const running = await cdl.createJob({ batch, configuration, status: "Estimating" });
  const done = await cdl.createJob({ batch, configuration: oldConfiguration(31), status: "Completed" });
  await cdl.put(`/jobs/states/downloading/05-${running}`);
  return { batch, jobs: [running, done] };
}

/** Their part of the tree: all but what is ours. */
const theirs = () => tree(ctx.session, { except: /^\/(fleet|zookeeper)/ });

const findings = async () => {
  const result = await fsck(ctx.session);
  if (result.kind !== "looked") throw new Error(result.kind);
  return result.report.findings;
};

describe("a batch that was left out", () => {
  test("is named by fsck, whose repair touches nothing of it", async () => {
    expect(await bring(ctx, ctx.session)).toMatchObject({ kind: "imported", batches: 1 });
    const before = await theirs();
    const found = await findings();
    expect(found.map(({ rule, path, severity }) => [rule, path, severity])).toEqual([
      ["IMPORT", paths.batch(parseBatchId(leftOut.batch)!), "warn"],
    ]);
    expect(found[0]?.human).toContain("sluice import");
    for (const finding of found) expect(await repair(ctx, OPERATOR, finding)).toMatchObject({ kind: "refused" });
    expect(await theirs()).toEqual(before);
    expect(await ctx.session.children(paths.fleetBatchQueue("Reporting"))).toMatchObject({ value: { names: [] } });
  });

  test("is taken in by a later import, also where something has listed it in our index", async () => {
    await bring(ctx, ctx.session);
    const batch = parseBatchId(leftOut.batch)!;
    await old.cdl.put(paths.fleetBatch("Reporting", batch));
    const files = { has: (path: string) => path.endsWith("/x.zip") };
    expect((await look(ctx.session, ctx.session, { files })).plan.bring.map(({ plan }) => plan.id)).toEqual([batch]);
    expect(await bring(ctx, ctx.session, { files })).toEqual({ kind: "imported", batches: 1, jobs: 2 });
    expect(await findings()).toEqual([]);
    expect(await initTree(ctx)).toMatchObject({ ok: true });
    expect(await ctx.session.exists(paths.fleetBatch("Reporting", batch))).toMatchObject({ value: null });
    expect((await look(ctx.session, ctx.session, { files })).plan.bring).toEqual([]);
  });

  test("keeps its entries: no worker takes them away, and none is claimed", async () => {
    await bring(ctx, ctx.session);
    for (const state of ["Downloading", "Estimating", "Completed"] as const) {
      const names = await ctx.session.children(paths.queue(state));
      const looked = await peek(ctx.session, state, sortEntries(names.ok ? names.value.names : []));
      const kinds = (looked.ok ? looked.value : []).filter(({ entry }) => leftOut.jobs.includes(entry.id));
      expect(kinds.map(({ kind }) => kind)).toEqual(["foreign"]);
      for (const { entry } of kinds) expect(await sweepEntry(ctx, state, entry)).toBe(false);
    }
  });
});
