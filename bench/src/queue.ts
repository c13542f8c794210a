/** A tree of its own with one batch, for a measurement. */
import {
  type BatchId,
  batchUuidFromRandom,
  createBatch,
  CHUNK_ROWS,
  initTree,
  type JobSpec,
  makeBatchStore,
  makeExpander,
  makeIdBlocks,
  type QueueContext,
  type Submission,
} from "@sluice/queue-core";
import { connectSession, makeCommitter, systemClock } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";

export const newId = (): string => randomBytes(9).toString("base64url");

export async function openQueue(connect: string): Promise<QueueContext> {
  const session = await connectSession({ connect, timeoutMs: 30_000 });
  const ctx: QueueContext = { session, committer: makeCommitter(session), clock: systemClock, newId };
  const tree = await initTree(ctx);
  if (!tree.ok) throw new Error(tree.problem);
  return ctx;
}

const SUBMISSION = { profile_name: "bench_content", type: "single-file-batch-manifest" } as Submission;
const SPEC: JobSpec = {
  priority: 5,
  configuration: { profile_name: "bench_content", payload_url: "http://127.0.0.1/x" } as JobSpec["configuration"],
  identifiers: null,
  metadata: null,
};

const BENCH = { fleet: "bench", epoch: 1, history: "bench" };

/** A Processing batch of so many Pending jobs. */
export async function expandBatch(ctx: QueueContext, rows: number): Promise<BatchId> {
  const actor = { stage: "batch-intake", worker: "bench" };
  const [ids, batches] = [makeIdBlocks(ctx), makeBatchStore(ctx, actor)];
  const made = await createBatch(ctx, ids, {
    uuid: batchUuidFromRandom(randomBytes(16)),
    submission: SUBMISSION,
    epoch: BENCH.epoch,
  });
  if (made.kind !== "created") throw new Error(made.kind);
  const claim = async (state: "Pending" | "Processing") => {
    const claimed = await batches.claim(state, made.id);
    if (claimed.kind !== "acquired") throw new Error(claimed.kind);
    return claimed.loaded;
  };
  await batches.settle(await claim("Pending"), { kind: "start", rows, digest: "" });
  let loaded = await claim("Processing");
  const expander = makeExpander(ctx, actor, ids, { identity: BENCH, workingDir: () => "" });
  for (let i = 0; i < rows; i += CHUNK_ROWS) {
    const added = await expander.addJobs(
      loaded,
      Array.from({ length: Math.min(CHUNK_ROWS, rows - i) }, () => SPEC),
    );
    if (added.kind !== "added") throw new Error(added.kind);
    loaded = added.loaded;
  }
  await batches.settle(loaded, { kind: "release" });
  return made.id;
}
