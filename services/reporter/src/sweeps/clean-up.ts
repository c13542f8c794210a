import {
  type BatchId,
  type BatchState,
  choreDone,
  expectChore,
  expireKeys,
  paths,
  type QueueContext,
} from "@sluice/queue-core";
import type { Sweep, SweepContext } from "@sluice/stage-runtime";
import type { Cleaner } from "../cleaner.ts";
import { cleanUp, type CleanUpParts, type RecycleArea } from "../clean-up.ts";
import { chunked, listBatches } from "./list-batches.ts";

export interface CleanUpOptions {
  readonly everyMs: number;
  readonly retentionMs: number;
}

const OVER: readonly BatchState[] = ["Completed", "Deleted"];
const BATCHES_PER_READ = 500;

/** Batches that ended long ago; where a job-runner orders them to be cleaned up, only what nobody would order. */
export const cleanUpSweep = (parts: CleanUpParts, cleaner: Cleaner, options: CleanUpOptions): Sweep => ({
  kind: "sweep",
  name: "clean-up",
  everyMs: options.everyMs,
  async run(ctx) {
    for (const chore of ["clean-up", "archive"] as const) await expectChore(ctx.queue.session, chore);
    await finishOthersWork(parts.recycled, ctx);
    const isOurs = await cleaner.isOurs(ctx.queue.session, ctx.log);
    const states = isOurs ? OVER : [];
    let kept = 0;
    for (const state of states) {
      const ids = await listBatches(ctx.queue.session, state);
      if (ids === null) return;
      for (const some of chunked(ids, BATCHES_PER_READ)) {
        const over = await expired(ctx.queue, state, some, options.retentionMs);
        // Without an answer nothing was done: that must not be taken down as a success.
        if (over === null) return;
        for (const id of over) {
          if (ctx.signal.aborted) return;
          if ((await cleanUp(id, parts, ctx)).kind === "not-archived") kept += 1;
        }
      }
    }
    const forgotten = await expireKeys(ctx.queue);
    if (forgotten > 0) ctx.log.info({ keys: forgotten }, "old submission keys forgotten");
    await choreDone(ctx.queue.session, "clean-up");
    if (kept === 0 && (await ordersMove(ctx.queue))) await choreDone(ctx.queue.session, "archive");
  },
});

/** An order is carried out within seconds, and stands for as long as the archive refuses its batch. */
const ORDER_STANDS_MAX_MS = 600_000;

/** Where a job-runner orders the clean-ups, the orders tell whether batches are archived. */
async function ordersMove({ session }: QueueContext): Promise<boolean> {
  const listed = await session.children(paths.cleanUps);
  if (!listed.ok) return false;
  const orders = await session.readMany(listed.value.names.map((name) => ({ get: `${paths.cleanUps}/${name}` })));
  if (!orders.ok) return false;
  const limit = session.serverNowMs() - ORDER_STANDS_MAX_MS;
  return orders.value.every((order) => order.kind !== "node" || order.node.stat.ctime > limit);
}

/** Since when a batch is over stands in its index entry, which is made by the move, by the server's clock. null = no answer. */
async function expired(
  queue: QueueContext,
  state: BatchState,
  ids: readonly BatchId[],
  retentionMs: number,
): Promise<readonly BatchId[] | null> {
  const answers = await queue.session.readMany(ids.map((id) => ({ get: paths.fleetBatch(state, id) })));
  if (!answers.ok) return null;
  const limit = queue.session.serverNowMs() - retentionMs;
  return ids.filter((_, i) => {
    const answer = answers.value[i];
    return answer?.kind === "node" && answer.node.stat.ctime <= limit;
  });
}

/** A reporter that died after the nodes were gone left the folder: nobody else would ever name it. */
async function finishOthersWork(recycled: RecycleArea, ctx: SweepContext): Promise<void> {
  for (const place of await recycled.list()) {
    const batch = await ctx.queue.session.exists(paths.batch(place.batchId));
    if (batch.ok && batch.value === null) await recycled.remove(place);
  }
}
