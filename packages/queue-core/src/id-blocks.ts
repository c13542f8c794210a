/**
 * Batch and job numbers, reserved in blocks: a counter in every multi made three intakes refuse each other two times
 * in three. A block that is not used up leaves a gap, which harms nobody.
 */
import type { QueueContext } from "./context.ts";
import { type BatchId, batchId, type JobId, jobId } from "./ids.ts";
import { setOp } from "./job-ops.ts";
import { paths } from "./paths.ts";
import { records } from "./records.ts";

export const JOB_BLOCK = 500;
export const BATCH_BLOCK = 20;
const TRIES_MAX = 50;

export interface IdBlocks {
  /** null = no answer from ZooKeeper. */
  nextBatch(): Promise<BatchId | null>;
  nextJobs(count: number): Promise<readonly JobId[] | null>;
  /** An id turned out to be taken (a foreign writer numbers by cversion): skip ahead of everything in the tree. */
  skipTaken(): Promise<boolean>;
}

type IdKind = "batch" | "job";

interface Block {
  next: number;
  end: number;
}

export function makeIdBlocks(ctx: QueueContext): IdBlocks {
  const blocks: Record<IdKind, Block> = { batch: { next: 0, end: 0 }, job: { next: 0, end: 0 } };
  // One reservation at a time: two callers that find a block empty must not both refill it.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  };

  async function take(kind: IdKind, count: number, size: number): Promise<readonly number[] | null> {
    const numbers: number[] = [];
    while (numbers.length < count) {
      const block = blocks[kind];
      if (block.next === block.end) {
        const reserved = await reserve(ctx, kind, Math.max(size, count - numbers.length), 0);
        if (reserved === null) return null;
        blocks[kind] = reserved;
        continue;
      }
      numbers.push(block.next++);
    }
    return numbers;
  }

  return {
    nextBatch: () => inTurn(async () => (await take("batch", 1, BATCH_BLOCK))?.map(batchId)[0] ?? null),
    nextJobs: (count) => inTurn(async () => (await take("job", count, JOB_BLOCK))?.map(jobId) ?? null),
    skipTaken: () =>
      inTurn(async () => {
        const [batches, jobs] = [await ctx.session.children(paths.batches), await ctx.session.children(paths.jobs)];
        if (!batches.ok || !jobs.ok) return false;
        const batch = await reserve(
          ctx,
          "batch",
          BATCH_BLOCK,
          pastAll(batches.value.names, batches.value.stat.cversion),
        );
        const job = await reserve(ctx, "job", JOB_BLOCK, pastAll(jobs.value.names, jobs.value.stat.cversion));
        if (batch === null || job === null) return false;
        [blocks.batch, blocks.job] = [batch, job];
        return true;
      }),
  };
}

function pastAll(names: readonly string[], cversion: number): number {
  const numbers = names.map((name) => Number(name.slice(3))).filter((n) => Number.isInteger(n));
  return numbers.reduce((most, n) => Math.max(most, n), cversion) + 1;
}

async function reserve(ctx: QueueContext, kind: IdKind, count: number, floor: number): Promise<Block | null> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const node = await ctx.session.get(paths.fleetIds);
    if (!node.ok) return null;
    const ids = records.fleetIds.decode(node.value.data);
    if (!ids.ok) return null;
    const next = Math.max(ids.value[kind], floor);
    const after = records.fleetIds.encode({ ...ids.value, [kind]: next + count });
    const set = await ctx.committer.submit({
      rank: "commit",
      ops: [setOp(paths.fleetIds, after, node.value.stat.version)],
    });
    if (set.ok) return { next, end: next + count };
    // Refused: another intake was faster. Unknown: perhaps reserved; the block is given up, a gap harms nobody.
    if (set.code === "SESSION_LOST") return null;
    if ((set.code === "UNKNOWN" || set.code === "NOT_SENT") && !(await ctx.session.untilConnected())) return null;
  }
  return null;
}
