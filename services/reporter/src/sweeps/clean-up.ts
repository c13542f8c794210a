import {
  type BatchId,
  type BatchState,
  cleanUpBatch,
  expireKeys,
  formatTimestamp,
  paths,
  type QueueContext,
} from "@sluice/queue-core";
import type { Sweep, SweepContext } from "@sluice/stage-runtime";
import { type Archive, archiveBatch } from "../archive.ts";
import { chunked, listBatches } from "./list-batches.ts";

/** Where the folders of batches go before they go for good. */
export interface RecycleArea {
  /** Moves the batch's folder here, in one step. */
  readonly take: (id: BatchId) => Promise<void>;
  readonly remove: (id: BatchId) => Promise<void>;
  readonly list: () => Promise<readonly BatchId[]>;
}

export interface CleanUpParts {
  readonly archive: Archive;
  readonly recycled: RecycleArea;
}

export interface CleanUpOptions {
  readonly everyMs: number;
  readonly retentionMs: number;
}

const OVER: readonly BatchState[] = ["Completed", "Deleted"];
const BATCHES_PER_READ = 500;

/** Batches that ended long ago: all that is known of them into the archive, folder into the recycle area, nodes away, folder away. Each step can be repeated. */
export const cleanUpSweep = (parts: CleanUpParts, options: CleanUpOptions): Sweep => ({
  kind: "sweep",
  name: "clean-up",
  everyMs: options.everyMs,
  async run(ctx) {
    await finishOthersWork(parts.recycled, ctx);
    for (const state of OVER) {
      const ids = await listBatches(ctx.queue.session, state);
      for (const some of chunked(ids, BATCHES_PER_READ)) {
        for (const id of await expired(ctx.queue, state, some, options.retentionMs)) {
          if (ctx.signal.aborted) return;
          await cleanUp(id, parts, ctx);
        }
      }
    }
    const forgotten = await expireKeys(ctx.queue);
    if (forgotten > 0) ctx.log.info({ keys: forgotten }, "old submission keys forgotten");
  },
});

/** Since when a batch is over stands in its index entry, which is made by the move, by the server's clock. */
async function expired(
  queue: QueueContext,
  state: BatchState,
  ids: readonly BatchId[],
  retentionMs: number,
): Promise<readonly BatchId[]> {
  const answers = await queue.session.readMany(ids.map((id) => ({ get: paths.fleetBatch(state, id) })));
  if (!answers.ok) return [];
  const limit = queue.session.serverNowMs() - retentionMs;
  return ids.filter((_, i) => {
    const answer = answers.value[i];
    return answer?.kind === "node" && answer.node.stat.ctime <= limit;
  });
}

async function cleanUp(id: BatchId, { archive, recycled }: CleanUpParts, ctx: SweepContext): Promise<void> {
  const archived = await archiveBatch(ctx.queue, id, archive, formatTimestamp(ctx.clock.nowMs()));
  await ctx.failpoint("afterArchive");
  if (archived.kind !== "archived") {
    ctx.log.warn({ batch: id, why: archived.message }, "not archived, so not cleaned up yet");
    return;
  }
  await recycled.take(id);
  await ctx.failpoint("afterRecycle");
  const result = await cleanUpBatch(ctx.queue, id);
  await ctx.failpoint("afterCleanUp");
  if (result.kind === "cleaned") {
    await recycled.remove(id);
    ctx.log.info({ batch: id, jobs: result.jobs }, "cleaned up");
  } else ctx.log.warn({ batch: id, result }, "not cleaned up yet");
}

/** A reporter that died after the nodes were gone left the folder: nobody else would ever name it. */
async function finishOthersWork(recycled: RecycleArea, ctx: SweepContext): Promise<void> {
  for (const id of await recycled.list()) {
    const batch = await ctx.queue.session.exists(paths.batch(id));
    if (batch.ok && batch.value === null) await recycled.remove(id);
  }
}
