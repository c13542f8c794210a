import { type BatchId, deleteJobsOfBatch, paths, type QueueContext } from "@sluice/queue-core";
import type { Sweep } from "@sluice/stage-runtime";
import { chunked, listBatches } from "./list-batches.ts";

const BATCHES_PER_READ = 200;

/** Deleting a batch is one word of an operator; its jobs, running ones too, follow here, however many they are. */
export const deletedBatchesSweep = (everyMs: number): Sweep => ({
  kind: "sweep",
  name: "deleted-batches",
  everyMs,
  async run(ctx) {
    const deleted = (await listBatches(ctx.queue.session, "Deleted")) ?? [];
    for (const ids of chunked(deleted, BATCHES_PER_READ)) {
      for (const id of await withOpenJobs(ctx.queue, ids)) {
        if (ctx.signal.aborted) return;
        const left = await deleteJobsOfBatch(ctx.queue, id, ctx.worker);
        ctx.log.info({ batch_id: id, left }, "deleted the jobs of a deleted batch");
      }
    }
  },
});

async function withOpenJobs(queue: QueueContext, ids: readonly BatchId[]): Promise<readonly BatchId[]> {
  const buckets = (id: BatchId) => [paths.bucket(id, "batch-processing"), paths.bucket(id, "batch-failed")];
  const answers = await queue.session.readMany(ids.flatMap(buckets).map((get) => ({ get })));
  if (!answers.ok) return [];
  const jobs = answers.value.map((answer) => (answer.kind === "node" ? answer.node.stat.numChildren : 0));
  return ids.filter((_, i) => (jobs[2 * i] ?? 0) + (jobs[2 * i + 1] ?? 0) > 0);
}
