/** Hold, release, resume, fail, delete and re-prioritise a job. */
import type { Op } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { holdsGuard, readHolds } from "./holds.ts";
import type { BatchId, JobId } from "./ids.ts";
import { act, type ActionResult, mayTouch, type Operator } from "./operator.ts";
import { lookAtJobs } from "./operator-look.ts";
import {
  auditName,
  batchCheck,
  type JobOrder,
  needsHolds,
  type OrderedBy,
  operatorMoveOps,
  planOrder,
} from "./operator-plans.ts";
import { putInPlace } from "./put-in-place.ts";
import { markDueIfLast } from "./report-gate.ts";
import type { JobState } from "./states.ts";
import { type JobAction, nextJobState } from "./transitions.ts";
import { lastAudited, lastChangeOf } from "./who-won.ts";

export async function orderJob(
  ctx: QueueContext,
  operator: Operator,
  order: JobOrder,
  id: JobId,
): Promise<ActionResult> {
  const ended: BatchId[] = [];
  let isRepeated = false;
  const result = await act(ctx, operator, auditName(order), id, async (op, who) => {
    // A refusal may come of places that another one left or took away.
    if (isRepeated) await putInPlace(ctx, id);
    isRepeated = true;
    // Read before the job: a hold set after this refuses the move.
    const holds = needsHolds(order) ? await readHolds(ctx.session) : null;
    if (holds !== null && !holds.ok) return { kind: "lost" };
    const looked = (await lookAtJobs(ctx.session, [id]))?.[0];
    if (looked === undefined) return { kind: "lost" };
    if (looked.kind !== "found") return looked;
    if (!mayTouch(who, looked.look.configuration.profile_name)) return { kind: "not-found" };
    const by: OrderedBy = { who, op, nowMs: ctx.clock.nowMs() };
    const plan = planOrder(order, looked.look, holds?.value ?? null, by);
    if (plan.kind === "refused") {
      const { because } = plan;
      const last = because === undefined ? lastChangeOf(looked.look.fleetJob) : await lastAudited(ctx.session, because);
      return { kind: "refused", why: plan.why, last };
    }
    ended.length = 0;
    if (plan.ends !== null) ended.push(plan.ends);
    const shared = holds === null ? [] : holdsGuard(holds.value);
    return { kind: "go", shared, ops: [...plan.checks, ...plan.ops] };
  });
  if (result.kind === "applied") for (const batch of ended) await markDueIfLast(ctx, batch);
  return result;
}

export const actOnJob = (
  ctx: QueueContext,
  operator: Operator,
  action: Exclude<JobAction, "resume">,
  id: JobId,
): Promise<ActionResult> => orderJob(ctx, operator, { action }, id);

/** Failed → the stage after the last success, or an earlier one that the operator names. */
export const resumeJob = (ctx: QueueContext, operator: Operator, id: JobId, at?: JobState): Promise<ActionResult> =>
  orderJob(ctx, operator, { action: "resume", ...(at === undefined ? {} : { at }) }, id);

/** The owner, if there is one, keeps its token: only the entry's name changes under it. */
export const changePriority = (
  ctx: QueueContext,
  operator: Operator,
  id: JobId,
  priority: number,
): Promise<ActionResult> => orderJob(ctx, operator, { action: "priority", priority }, id);

/** One job of a batch that is being deleted, running or not; null when there is nothing to do. */
export async function deleteWithBatchOps(
  ctx: QueueContext,
  id: JobId,
  by: string,
  op: string,
): Promise<{ readonly ops: readonly Op[] } | null> {
  const looked = (await lookAtJobs(ctx.session, [id]))?.[0];
  if (looked?.kind !== "found") return null;
  const { look } = looked;
  const to = nextJobState(look.status.status, { by: "batch-delete" });
  if (to === null) return null;
  const who: Operator = { name: by, reason: "its batch was deleted" };
  const move = { to, kind: "delete", message: who.reason } as const;
  return { ops: [batchCheck(look), ...operatorMoveOps(look, { who, op, nowMs: ctx.clock.nowMs() }, move)] };
}
