/** Release, delete, re-report and clean up a batch. */
import type { Op } from "@sluice/zookeeper";
import { DONE_WITH } from "./clean-up.ts";
import { expansionOp, gateOps, moveBatchOps } from "./batch-ops.ts";
import type { QueueContext } from "./context.ts";
import { holdsGuard, readHolds } from "./holds.ts";
import type { BatchId } from "./ids.ts";
import { createOp, deleteOp } from "./job-ops.ts";
import { nodeOf } from "./nodes.ts";
import { act, type ActionResult, mayTouch, type Operator } from "./operator.ts";
import { NEVER_IMPORTED } from "./our-batch.ts";
import { paths } from "./paths.ts";
import { records } from "./records.ts";
import { BATCH_STATES } from "./states.ts";
import { formatTimestamp } from "./timestamp.ts";
import { type BatchAction, nextBatchState } from "./transitions.ts";

export async function actOnBatch(
  ctx: QueueContext,
  operator: Operator,
  action: BatchAction,
  id: BatchId,
): Promise<ActionResult> {
  return await act(ctx, operator, `batch.${action}`, id, async (op, who) => {
    const holds = await readHolds(ctx.session);
    if (!holds.ok) return { kind: "lost" };
    const answers = await ctx.session.readMany([
      { get: paths.batchStatus(id) },
      { get: paths.batchSubmission(id) },
      { get: paths.expansion(id) },
      { get: paths.batchLock(id) },
      { get: paths.bucket(id, "batch-processing") },
      ...BATCH_STATES.map((state) => ({ get: paths.fleetBatch(state, id) })),
    ]);
    if (!answers.ok) return { kind: "lost" };
    const [statusNode, submissionNode, expansionNode, lockNode, processing, ...entries] = answers.value.map(nodeOf);
    if (!statusNode || !submissionNode) return { kind: "not-found" };
    const status = records.batchStatus.decode(statusNode.data);
    const submission = records.submission.decode(submissionNode.data);
    if (!status.ok || !submission.ok) return { kind: "refused", why: `the nodes of ${id} are broken: run fsck` };
    if (!mayTouch(who, submission.value.profile_name)) return { kind: "not-found" };
    const from = status.value.status;
    const to = nextBatchState(from, { by: "operator", action });
    const entryVersion = entries[BATCH_STATES.indexOf(from)]?.stat.version;
    if (entries.every((entry) => entry === null) && !expansionNode) {
      return { kind: "refused", why: `${id} ${NEVER_IMPORTED}` };
    }
    if (to === null || entryVersion === undefined) {
      return { kind: "refused", why: `a batch that is ${from} cannot be asked to ${action}` };
    }
    if (action === "release" && holds.value.collections.has(submission.value.profile_name)) {
      return { kind: "refused", why: `the collection ${submission.value.profile_name} is still held` };
    }
    const expansion = expansionNode ? records.expansion.decode(expansionNode.data) : null;
    if (action === "update-reporting") {
      if (expansion?.ok !== true || expansion.value.created === 0) {
        return {
          kind: "refused",
          why: "it was never expanded: there is nothing to report on; delete it and submit again",
        };
      }
      const running = processing?.stat.numChildren ?? 0;
      if (running > 0) return { kind: "refused", why: `${running} of its jobs are still under way` };
    }
    const move = moveBatchOps({
      id,
      from,
      status: { status: to, last_modified: formatTimestamp(ctx.clock.nowMs()), message: who.reason },
      statusVersion: statusNode.stat.version,
      entryVersion,
    });
    return {
      kind: "go",
      shared: action === "release" ? holdsGuard(holds.value) : [],
      ops: [
        ...move,
        ...(action === "update-reporting" ? gateOps(id, "batch-processing") : []),
        ...(expansion?.ok === true && expansionNode
          ? [expansionOp(id, { ...expansion.value, op }, expansionNode.stat.version)]
          : []),
        ...(lockNode ? [deleteOp(paths.batchLock(id), lockNode.stat.version)] : []),
      ],
    };
  });
}

/**
 * Orders a batch that is over to be cleaned up before its retention time ends. The reporter carries it out, as it does all
 * others: nothing goes that is not in the archive.
 */
export async function orderCleanUp(ctx: QueueContext, operator: Operator, id: BatchId): Promise<ActionResult> {
  return await act(ctx, operator, "batch.clean-up", id, async (_op, who) => {
    const answers = await ctx.session.readMany([
      { get: paths.batchStatus(id) },
      { get: paths.batchSubmission(id) },
      { get: paths.cleanUp(id) },
      { get: paths.expansion(id) },
      ...DONE_WITH.map((state) => ({ get: paths.fleetBatch(state, id) })),
    ]);
    if (!answers.ok) return { kind: "lost" };
    const [node, submissionNode, ordered, ...marks] = answers.value.map(nodeOf);
    if (!node) return { kind: "not-found" };
    const status = records.batchStatus.decode(node.data);
    const submission = submissionNode ? records.submission.decode(submissionNode.data) : null;
    if (!status.ok || submission?.ok !== true) {
      return { kind: "refused", why: `the nodes of ${id} are broken: run fsck` };
    }
    if (!mayTouch(who, submission.value.profile_name)) return { kind: "not-found" };
    const state = status.value.status;
    if (!DONE_WITH.includes(state)) return { kind: "refused", why: `a batch that is ${state} cannot be cleaned up` };
    if (marks.every((mark) => mark === null)) return { kind: "refused", why: `${id} ${NEVER_IMPORTED}` };
    if (ordered) return { kind: "refused", why: "its clean-up has been ordered already" };
    const stillOver: Op = { op: "check", path: paths.batchStatus(id), version: node.stat.version };
    return { kind: "go", ops: [stillOver, createOp(paths.cleanUp(id))] };
  });
}
