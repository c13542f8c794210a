/**
 * Carries a plan out. /fleet/importing stands in the tree from the first write to the last, and no service starts
 * meanwhile. Every batch and every job is one transaction: broken off anywhere, the same import goes on where it was.
 */
import { act, makeSkeleton, type Operator, paths, type QueueContext, records, storeReport } from "@sluice/queue-core";
import type { Op } from "@sluice/zookeeper";
import type { OldTree } from "./old-tree.ts";
import { frameOps, jobOps, sealOps } from "./ops.ts";
import type { FileToBring } from "./payload.ts";
import type { BatchToBring, ImportPlan } from "./plan.ts";

export interface CarryOutOptions {
  /** What the tree is called in the audit, and what a second run must name again. */
  readonly from: string;
  readonly inPlace: boolean;
  /** Puts a file into our working folder; whole or not at all, and at once if it is there already. */
  readonly bringFile: (file: FileToBring) => Promise<void>;
  readonly onProgress?: (progress: { readonly done: number; readonly of: number }) => void;
}

export type CarriedOut =
  | { readonly kind: "imported"; readonly batches: number; readonly jobs: number }
  /** Nothing has been written. */
  | { readonly kind: "refused"; readonly why: string }
  /** Something has: run the same import again. */
  | { readonly kind: "broken-off"; readonly why: string };

/** Jobs in flight: the committer joins them into transactions of its own size. */
const AT_ONCE = 64;

class BrokenOff extends Error {}

export async function carryOut(
  ctx: QueueContext,
  operator: Operator,
  tree: OldTree,
  plan: ImportPlan,
  options: CarryOutOptions,
): Promise<CarriedOut> {
  const refused = await begin(ctx, options.from);
  if (refused !== null) return { kind: "refused", why: refused };
  try {
    const skeleton = await makeSkeleton(ctx);
    if (!skeleton.ok) throw new BrokenOff(skeleton.problem);
    const of = plan.bring.reduce((sum, { jobs }) => sum + jobs.length, 0);
    let done = 0;
    for (const batch of plan.bring) {
      await bringBatch(ctx, batch, options);
      done += batch.jobs.length;
      options.onProgress?.({ done, of });
    }
    await bringLocks(ctx, tree, options.inPlace);
    await finish(ctx, operator, tree, options.from);
    return { kind: "imported", batches: plan.bring.length, jobs: of };
  } catch (error) {
    if (error instanceof BrokenOff) return { kind: "broken-off", why: error.message };
    throw error;
  }
}

async function bringBatch(ctx: QueueContext, batch: BatchToBring, options: CarryOutOptions): Promise<void> {
  const { jobs, plan } = batch;
  const { inPlace } = options;
  for (const file of [plan.file, ...jobs.map((job) => job.plan.file)]) {
    if (file !== null) await options.bringFile(file);
  }
  await write(ctx, frameOps(batch, inPlace));
  for (let i = 0; i < jobs.length; i += AT_ONCE) {
    await Promise.all(jobs.slice(i, i + AT_ONCE).map((job) => write(ctx, jobOps(job.plan, job.old, inPlace))));
  }
  const report = plan.report === null ? null : await storeReport(ctx, plan.id, 1, plan.report);
  if (plan.report !== null && report === null) throw new BrokenOff("ZooKeeper does not answer");
  await write(ctx, sealOps(batch, report, inPlace));
}

/** Holds go with the queue. A lock on an object that no session owns would keep our processor waiting for ever. */
async function bringLocks(ctx: QueueContext, tree: OldTree, inPlace: boolean): Promise<void> {
  if (inPlace) {
    for (const { path, version } of tree.deadLocks) await write(ctx, [{ op: "delete", path, version }]);
    return;
  }
  for (const { path, data } of tree.holds) {
    const there = await ctx.session.exists(path);
    if (!there.ok) throw new BrokenOff(`${path}: ${there.code}`);
    if (there.value === null) await write(ctx, [{ op: "create", path, data }]);
  }
}

/** A refusal means that somebody else writes here; a lost answer is looked at by the next run. */
async function write(ctx: QueueContext, ops: readonly Op[]): Promise<void> {
  if (ops.length === 0) return;
  const answer = await ctx.committer.submit({ rank: "operator", ops });
  if (answer.ok) return;
  const path = ops[answer.index]?.path ?? "";
  throw new BrokenOff(`${path} ${answer.code} ${answer.detail}: is the old fleet still at work?`);
}

async function begin(ctx: QueueContext, from: string): Promise<string | null> {
  const there = await ctx.session.readMany([{ get: paths.fleet }, { get: paths.importing }]);
  if (!there.ok) return `ZooKeeper does not answer: ${there.code}`;
  const [fleet, marker] = there.value;
  if (marker?.kind === "node") {
    const other = marker.node.data.toString("utf8");
    return other === from ? null : `an import from ${other} was broken off here: finish that one first`;
  }
  const made = await ctx.session.multi([
    ...(fleet?.kind === "node" ? [] : [{ op: "create", path: paths.fleet, data: Buffer.alloc(0) } as const]),
    { op: "create", path: paths.importing, data: Buffer.from(from) },
  ]);
  return made.ok ? null : `${made.code} ${made.detail}`;
}

/** Our numbers go on behind theirs, holds count as changed, the audit tells of it, and services may start. */
async function finish(ctx: QueueContext, operator: Operator, tree: OldTree, from: string): Promise<void> {
  const result = await act(ctx, operator, `tree.import from ${from}`, "tree", async () => {
    const answers = await ctx.session.readMany([
      { get: paths.fleetIds },
      { get: paths.holds },
      { get: paths.importing },
    ]);
    if (!answers.ok) return { kind: "lost" };
    const [ids, holds, marker] = answers.value;
    if (ids?.kind !== "node" || holds?.kind !== "node" || marker?.kind !== "node") return { kind: "not-found" };
    const known = records.fleetIds.decode(ids.node.data);
    const count = records.counter.decode(holds.node.data);
    if (!known.ok || !count.ok) return { kind: "refused", why: "the tree's counters cannot be read" };
    const next = {
      ...known.value,
      batch: Math.max(known.value.batch, tree.nextBatch),
      job: Math.max(known.value.job, tree.nextJob),
    };
    const set = (path: string, data: Buffer, version: number): Op => ({ op: "set", path, data, version });
    return {
      kind: "go",
      ops: [
        set(paths.fleetIds, records.fleetIds.encode(next), ids.node.stat.version),
        set(paths.holds, records.counter.encode(count.value + 1), holds.node.stat.version),
        { op: "delete", path: paths.importing, version: marker.node.stat.version },
      ],
    };
  });
  if (result.kind !== "applied") throw new BrokenOff("why" in result ? result.why : result.kind);
}
