import { type BatchId, EMPTY, paths, type QueueContext, records } from "@sluice/queue-core";
import type { Sweep } from "@sluice/stage-runtime";
import type { ReadAnswer } from "@sluice/zookeeper";
import { chunked, listBatches } from "./list-batches.ts";

const BATCHES_PER_READ = 200;

/**
 * Whoever ends a batch's last job says so in /fleet/batches/due, unless it dies right then. This finds batches that
 * everybody is done with and nobody spoke of.
 */
export const dueBackstop = (everyMs: number): Sweep => ({
  kind: "sweep",
  name: "due-backstop",
  everyMs,
  async run(ctx) {
    const processing = (await listBatches(ctx.queue.session, "Processing")) ?? [];
    for (const ids of chunked(processing, BATCHES_PER_READ)) {
      for (const id of await forgotten(ctx.queue, ids)) {
        ctx.log.warn({ batch_id: id }, "the end of this batch's last job went unnoticed");
        await markDue(ctx.queue, id);
      }
    }
  },
});

async function forgotten(queue: QueueContext, ids: readonly BatchId[]): Promise<readonly BatchId[]> {
  const nodes = (id: BatchId) => [paths.expansion(id), paths.bucket(id, "batch-processing"), paths.dueBatch(id)];
  const answers = await queue.session.readMany(ids.flatMap(nodes).map((get) => ({ get })));
  if (!answers.ok) return [];
  return ids.filter((_, i) => isForgotten(answers.value.slice(i * 3, i * 3 + 3)));
}

function isForgotten([expansionNode, bucket, due]: readonly ReadAnswer[]): boolean {
  if (expansionNode?.kind !== "node" || bucket?.kind !== "node" || due?.kind === "node") return false;
  const expansion = records.expansion.decode(expansionNode.node.data);
  return expansion.ok && expansion.value.created === expansion.value.rows && bucket.node.stat.numChildren === 0;
}

/** A refusal means that the batch has moved on, or that somebody has spoken of it after all. */
const markDue = (queue: QueueContext, id: BatchId) =>
  queue.committer.submit({
    rank: "commit",
    ops: [
      { op: "check", path: paths.fleetBatch("Processing", id) },
      { op: "create", path: paths.dueBatch(id), data: EMPTY },
    ],
  });
