/** Steps that tests of batches take on their way. */
import { advance, claimJob, testWorker, type TestWorker } from "@sluice/testkit";
import { type BatchId, type JobId, type LoadedBatch, markDueIfLast } from "../../src/index.ts";

export async function claimBatch(
  w: TestWorker,
  state: Parameters<TestWorker["batches"]["claim"]>[0],
  id: BatchId,
): Promise<LoadedBatch> {
  const claim = await w.batches.claim(state, id);
  if (claim.kind !== "acquired") throw new Error(`${id} in ${state}: ${claim.kind}`);
  return claim.loaded;
}

/** Works a job to its end, and tells the reporters if it was the last. */
export async function finish(connect: string, id: JobId, how: "done" | "fail" = "done"): Promise<void> {
  await advance(connect, id, "Notify");
  const notifier = await testWorker(connect, "notifier");
  const loaded = await claimJob(notifier, "Notify", id);
  await notifier.jobs.commit(
    loaded,
    how === "done" ? { kind: "done", changes: {} } : { kind: "fail", code: "CALLBACK_FAILED", message: "no" },
  );
  await markDueIfLast(notifier.ctx, loaded.job.batchId);
  await notifier.close();
}
