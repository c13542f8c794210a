/** A batch reports once, after its last job. */
import type { ReadAnswer } from "@sluice/zookeeper";
import { expansionOp, gateOps, moveBatchOps } from "./batch-ops.ts";
import type { QueueContext } from "./context.ts";
import type { BatchId } from "./ids.ts";
import { createOp, deleteOp } from "./job-ops.ts";
import { paths } from "./paths.ts";
import { records } from "./records.ts";
import { sendFenced } from "./send.ts";
import { BUCKETS } from "./states.ts";
import { formatTimestamp } from "./timestamp.ts";
import { nextBatchState } from "./transitions.ts";

/** After a move that ended a job: when it was the last one under way, tell the reporters. True = told. */
export async function markDueIfLast(ctx: QueueContext, batch: BatchId): Promise<boolean> {
  let bucket = await ctx.session.exists(paths.bucket(batch, "batch-processing"));
  if (!bucket.ok && (await ctx.session.untilConnected())) {
    bucket = await ctx.session.exists(paths.bucket(batch, "batch-processing"));
  }
  // No answer: the reporter's sweep finds the batch later. A missing bucket is a batch that is gone.
  if (!bucket.ok || bucket.value === null || bucket.value.numChildren > 0) return false;
  const sent = await sendFenced(ctx, { rank: "commit", ops: [createOp(paths.dueBatch(batch))] }, async () => {
    const due = await ctx.session.exists(paths.dueBatch(batch));
    if (!due.ok) return "ask-again";
    return due.value === null ? "send-again" : "applied";
  });
  return sent.kind === "applied" || (sent.kind === "refused" && sent.fault.code === "NODE_EXISTS");
}

export type GateResult =
  /** The batch is Reporting now. */
  | { readonly kind: "opened" }
  /** It was not Processing (any more): nothing to do. */
  | { readonly kind: "not-due"; readonly why: string }
  /** Jobs or rows are left; whoever ends the last one will say so again. */
  | { readonly kind: "shut"; readonly why: string }
  | { readonly kind: "lost" };

const stat = (answer: ReadAnswer | undefined) => (answer?.kind === "node" ? answer.node.stat : null);

/**
 * Processing → Reporting, only if the batch is fully expanded, every row's job has ended, and nothing is left in
 * batch-processing in the very transaction that says so.
 */
export async function openReport(ctx: QueueContext, id: BatchId): Promise<GateResult> {
  const answers = await ctx.session.readMany([
    { get: paths.batchStatus(id) },
    { get: paths.expansion(id) },
    { get: paths.fleetBatch("Processing", id) },
    { get: paths.dueBatch(id) },
    ...BUCKETS.map((bucket) => ({ get: paths.bucket(id, bucket) })),
  ]);
  if (!answers.ok) return { kind: "lost" };
  const [statusNode, expansionNode, entry, due, ...buckets] = answers.value;
  const dueVersion = stat(due)?.version;
  if (statusNode?.kind !== "node" || expansionNode?.kind !== "node")
    return await notDue(ctx, id, dueVersion, "no batch");
  const status = records.batchStatus.decode(statusNode.node.data);
  const expansion = records.expansion.decode(expansionNode.node.data);
  if (!status.ok || !expansion.ok) return { kind: "shut", why: status.ok ? "broken expansion" : status.problem };
  const to = nextBatchState("Processing", { by: "stage", outcome: "done" });
  const entryVersion = stat(entry)?.version;
  if (status.value.status !== "Processing" || to === null || entryVersion === undefined) {
    return await notDue(ctx, id, dueVersion, `the batch is ${status.value.status}`);
  }
  const { rows, created } = expansion.value;
  const [processing = 0, ...ended] = buckets.map((bucket) => stat(bucket)?.numChildren ?? 0);
  const sum = ended.reduce((a, b) => a + b, 0);
  if (created < rows || processing > 0 || sum !== rows) {
    return { kind: "shut", why: `${rows} rows, ${created} jobs made, ${processing} under way, ${sum} ended` };
  }
  const op = ctx.newId();
  const ops = [
    ...moveBatchOps({
      id,
      from: "Processing",
      status: { status: to, last_modified: formatTimestamp(ctx.clock.nowMs()), message: "" },
      statusVersion: statusNode.node.stat.version,
      entryVersion,
    }),
    ...gateOps(id, "batch-processing"),
    expansionOp(id, { ...expansion.value, op }, expansionNode.node.stat.version),
    ...(dueVersion === undefined ? [] : [deleteOp(paths.dueBatch(id), dueVersion)]),
  ];
  const sent = await sendFenced(ctx, { rank: "commit", ops }, async () => {
    const node = await ctx.session.get(paths.expansion(id));
    const now = node.ok ? records.expansion.decode(node.value.data) : null;
    if (now === null) return "ask-again";
    return now.ok && now.value.op === op ? "applied" : "not-applied";
  });
  if (sent.kind === "applied") return { kind: "opened" };
  if (sent.kind === "lost") return sent;
  return { kind: "shut", why: sent.kind === "refused" ? sent.fault.code : "another reporter was faster" };
}

/** The notice has nothing to say any more: take it away, so that nobody looks at it again. */
async function notDue(ctx: QueueContext, id: BatchId, version: number | undefined, why: string): Promise<GateResult> {
  if (version !== undefined) {
    await ctx.committer.submit({ rank: "commit", ops: [deleteOp(paths.dueBatch(id), version)] });
  }
  return { kind: "not-due", why };
}
