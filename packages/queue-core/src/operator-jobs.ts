/** Hold, release, resume, fail, delete and re-prioritise a job. */
import type { Op } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { failureMessage, isResumable } from "./errors.ts";
import { moved, type NewEvent } from "./fleet-job.ts";
import { holdsGuard, readHolds } from "./holds.ts";
import type { BatchId, JobId } from "./ids.ts";
import { bucketOps, callbackOp, createOp, deleteOp, moveOps, setOp } from "./job-ops.ts";
import { nodeOf } from "./nodes.ts";
import { act, type ActionPlan, type ActionResult, type Operator } from "./operator.ts";
import { clampPriority, paths } from "./paths.ts";
import {
  type BatchStatus,
  type EventKind,
  type FleetJob,
  type JobConfiguration,
  type JobStatus,
  records,
} from "./records.ts";
import type { JobState } from "./states.ts";
import { markDueIfLast } from "./report-gate.ts";
import { formatTimestamp } from "./timestamp.ts";
import {
  batchRow,
  isEnded,
  isFinal,
  type JobAction,
  nextJobState,
  predecessor,
  resumeAt,
  resumeChoices,
} from "./transitions.ts";

/** Everything an operator's move of a job depends on, from one multiRead. */
interface JobLook {
  readonly id: JobId;
  readonly batch: BatchId;
  readonly status: JobStatus;
  readonly statusVersion: number;
  readonly fleetJob: FleetJob;
  readonly fleetJobVersion: number;
  readonly priority: number;
  readonly priorityVersion: number;
  readonly configuration: JobConfiguration;
  readonly lockVersion: number | null;
  readonly batchStatus: BatchStatus;
  readonly batchStatusVersion: number;
}

async function lookAt(ctx: QueueContext, id: JobId): Promise<JobLook | Exclude<ActionPlan, { kind: "go" }>> {
  const answers = await ctx.session.readMany([
    { get: paths.jobBid(id) },
    { get: paths.jobStatus(id) },
    { get: paths.fleetJob(id) },
    { get: paths.jobPriority(id) },
    { get: paths.jobConfiguration(id) },
    { get: paths.jobLock(id) },
  ]);
  if (!answers.ok) return { kind: "lost" };
  const [bidNode, statusNode, fleetNode, priorityNode, configurationNode, lockNode] = answers.value.map(nodeOf);
  if (!bidNode || !statusNode) return { kind: "not-found" };
  const bid = records.bid.decode(bidNode.data);
  const status = records.jobStatus.decode(statusNode.data);
  const fleetJob = fleetNode ? records.fleetJob.decode(fleetNode.data) : null;
  const priority = priorityNode ? records.priority.decode(priorityNode.data) : null;
  const configuration = configurationNode ? records.jobConfiguration.decode(configurationNode.data) : null;
  if (!bid.ok || !status.ok || fleetJob?.ok !== true || priority?.ok !== true || configuration?.ok !== true) {
    return { kind: "refused", why: `the nodes of ${id} are broken: run fsck` };
  }
  const batchNode = await ctx.session.get(paths.batchStatus(bid.value));
  const batchStatus = batchNode.ok ? records.batchStatus.decode(batchNode.value.data) : null;
  if (!batchNode.ok || batchStatus?.ok !== true) return { kind: "refused", why: `the batch of ${id} is gone` };
  return {
    id,
    batch: bid.value,
    status: status.value,
    statusVersion: statusNode.stat.version,
    fleetJob: fleetJob.value,
    fleetJobVersion: fleetNode?.stat.version ?? 0,
    priority: clampPriority(priority.value),
    priorityVersion: priorityNode?.stat.version ?? 0,
    configuration: configuration.value,
    lockVersion: lockNode?.stat.version ?? null,
    batchStatus: batchStatus.value,
    batchStatusVersion: batchNode.value.stat.version,
  };
}

interface OperatorMove {
  readonly to: JobState;
  readonly kind: EventKind;
  readonly message: string;
  readonly status?: Partial<JobStatus>;
}

/** Status, entry, buckets, history and, if somebody works on it, the lock: fencing out and freeing go together. */
function operatorMoveOps(
  ctx: QueueContext,
  look: JobLook,
  operator: Operator,
  op: string,
  move: OperatorMove,
): readonly Op[] {
  const nowMs = ctx.clock.nowMs();
  const from = look.status.status;
  const status: JobStatus = {
    ...look.status,
    status: move.to,
    last_modified: formatTimestamp(nowMs),
    message: move.message,
    ...move.status,
  };
  const event: NewEvent = { op, atMs: nowMs, kind: move.kind, state: from, by: operator.name, detail: operator.reason };
  const place = { id: look.id, from, to: move.to, fromPriority: look.priority, toPriority: look.priority };
  const failed = {
    job: look.id,
    batch: look.batch,
    outcome: "FAILED" as const,
    retry: status.retry_count,
    message: status.message,
    at: formatTimestamp(nowMs),
  };
  return [
    ...moveOps({ id: look.id, status, version: look.statusVersion }, place),
    ...bucketOps(look.batch, look.id, from, move.to),
    setOp(paths.fleetJob(look.id), records.fleetJob.encode(moved(look.fleetJob, event)), look.fleetJobVersion),
    ...(look.lockVersion === null ? [] : [deleteOp(paths.jobLock(look.id), look.lockVersion)]),
    ...(move.to === "Failed" ? [callbackOp(look.id, failed)] : []),
  ];
}

/** A failed job leaves batch-failed: not while its batch is being reported on, and against the batch as it was read. */
const batchCheck = (look: JobLook): Op => ({
  op: "check",
  path: paths.batchStatus(look.batch),
  version: look.batchStatusVersion,
});

export const EVENT_OF: Readonly<Record<Exclude<JobAction, "resume">, EventKind>> = {
  hold: "hold",
  release: "release",
  fail: "op-fail",
  delete: "delete",
};

export async function actOnJob(
  ctx: QueueContext,
  operator: Operator,
  action: Exclude<JobAction, "resume">,
  id: JobId,
): Promise<ActionResult> {
  const ended: BatchId[] = [];
  const result = await act(ctx, operator, `job.${action}`, id, async (op, who) => {
    // Read before the job: a hold set after this refuses the move.
    const holds = action === "release" ? await readHolds(ctx.session) : null;
    if (holds !== null && !holds.ok) return { kind: "lost" };
    const look = await lookAt(ctx, id);
    if ("kind" in look) return look;
    const to = nextJobState(look.status.status, { by: "operator", action });
    if (to === null)
      return { kind: "refused", why: `a job that is ${look.status.status} cannot be asked to ${action}` };
    if (holds?.value.collections.has(look.configuration.profile_name) === true) {
      return { kind: "refused", why: `the collection ${look.configuration.profile_name} is still held` };
    }
    if (action === "delete" && look.status.status === "Failed" && !batchRow(look.batchStatus.status).resumable) {
      return { kind: "refused", why: `its batch is ${look.batchStatus.status}` };
    }
    const message = action === "fail" ? failureMessage("OPERATOR_FAILED", `${who.name}: ${who.reason}`) : who.reason;
    const ops = operatorMoveOps(ctx, look, who, op, { to, kind: EVENT_OF[action], message });
    ended.length = 0;
    if (isEnded(to) && !isEnded(look.status.status)) ended.push(look.batch);
    const checks = action === "delete" ? [batchCheck(look)] : [];
    return { kind: "go", shared: holds === null ? [] : holdsGuard(holds.value), ops: [...checks, ...ops] };
  });
  if (result.kind === "applied") for (const batch of ended) await markDueIfLast(ctx, batch);
  return result;
}

/** Failed → the stage after the last success, or an earlier one that the operator names. */
export async function resumeJob(
  ctx: QueueContext,
  operator: Operator,
  id: JobId,
  at?: JobState,
): Promise<ActionResult> {
  return await act(ctx, operator, "job.resume", id, async (op, who) => {
    const holds = await readHolds(ctx.session);
    if (!holds.ok) return { kind: "lost" };
    const look = await lookAt(ctx, id);
    if ("kind" in look) return look;
    if (holds.value.collections.has(look.configuration.profile_name)) {
      return { kind: "refused", why: `the collection ${look.configuration.profile_name} is held` };
    }
    const refusal = resumeRefusal(look, at);
    if (refusal !== null) return { kind: "refused", why: refusal };
    const last = look.status.last_successful_status;
    const to = at ?? resumeAt(last);
    const chosenEarlier = at !== undefined && at !== resumeAt(last);
    const status = {
      retry_count: look.status.retry_count + 1,
      last_successful_status: chosenEarlier ? predecessor(at) : last,
    };
    const ops = operatorMoveOps(ctx, look, who, op, { to, kind: "resume", message: who.reason, status });
    return { kind: "go", shared: holdsGuard(holds.value), ops: [batchCheck(look), ...ops] };
  });
}

function resumeRefusal(look: JobLook, at: JobState | undefined): string | null {
  const { status, last_successful_status: last, message } = look.status;
  if (status !== "Failed") return `the job is ${status}, only a Failed one can be resumed`;
  if (!batchRow(look.batchStatus.status).resumable) return `its batch is ${look.batchStatus.status}`;
  if (last === null && !isResumable(message)) return "its payload is corrupt: a new submission is needed";
  if (at !== undefined && !resumeChoices(last).includes(at)) {
    return `it can be resumed at ${resumeChoices(last).join(", ")}, not at ${at}`;
  }
  return null;
}

/** The owner, if there is one, keeps its token: only the entry's name changes under it. */
export async function changePriority(
  ctx: QueueContext,
  operator: Operator,
  id: JobId,
  priority: number,
): Promise<ActionResult> {
  return await act(ctx, operator, `job.priority ${clampPriority(priority)}`, id, async () => {
    const look = await lookAt(ctx, id);
    if ("kind" in look) return look;
    const to = clampPriority(priority);
    if (isFinal(look.status.status)) return { kind: "refused", why: `the job is ${look.status.status}: it is over` };
    if (to === look.priority) return { kind: "refused", why: `its priority is ${to} already` };
    const { status } = look.status;
    return {
      kind: "go",
      ops: [
        { op: "check", path: paths.jobStatus(id), version: look.statusVersion },
        setOp(paths.jobPriority(id), records.priority.encode(to), look.priorityVersion),
        deleteOp(paths.queueEntry(status, look.priority, id)),
        createOp(paths.queueEntry(status, to, id)),
      ],
    };
  });
}

/** One job of a batch that is being deleted, running or not; null when there is nothing to do. */
export async function deleteWithBatchOps(
  ctx: QueueContext,
  id: JobId,
  by: string,
  op: string,
): Promise<{ readonly ops: readonly Op[] } | null> {
  const look = await lookAt(ctx, id);
  if ("kind" in look) return null;
  const to = nextJobState(look.status.status, { by: "batch-delete" });
  if (to === null) return null;
  const operator: Operator = { name: by, reason: "its batch was deleted" };
  const ops = operatorMoveOps(ctx, look, operator, op, { to, kind: "delete", message: operator.reason });
  return { ops: [batchCheck(look), ...ops] };
}
