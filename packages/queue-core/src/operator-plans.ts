/** What an operator's order means for a job as it was read: the ops of its move, or why not. Pure. */
import type { Op } from "@sluice/zookeeper";
import { failureMessage, isResumable } from "./errors.ts";
import { moved, type NewEvent } from "./fleet-job.ts";
import type { Holds } from "./holds.ts";
import type { BatchId } from "./ids.ts";
import { bucketOps, callbackOp, createOp, deleteOp, forgetBodyOps, moveOps, setOp } from "./job-ops.ts";
import type { Operator } from "./operator.ts";
import type { JobLook } from "./operator-look.ts";
import { clampPriority, paths } from "./paths.ts";
import { type EventKind, type JobStatus, records } from "./records.ts";
import type { JobState } from "./states.ts";
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

/** What can be asked of a job, alone or in bulk. */
export type JobOrder =
  | { readonly action: Exclude<JobAction, "resume"> }
  /** `at`: an earlier stage than the right one, if the operator wants it. */
  | { readonly action: "resume"; readonly at?: JobState }
  | { readonly action: "priority"; readonly priority: number };

export type JobPlan =
  | {
      readonly kind: "go";
      /** Checks that several jobs of one batch have in common. */
      readonly checks: readonly Op[];
      readonly ops: readonly Op[];
      /** The batch that this ends a job of. */
      readonly ends: BatchId | null;
    }
  /** `because`: what stands in the way, where it is not the job itself: its batch, its collection's hold. */
  | { readonly kind: "refused"; readonly why: string; readonly because?: string };

/** Who orders it, under which op id, when. */
export interface OrderedBy {
  readonly who: Operator;
  readonly op: string;
  readonly nowMs: number;
}

/** Work that such an order starts must not start under a hold. */
export const needsHolds = ({ action }: JobOrder): boolean => action === "release" || action === "resume";

/** As the audit names it. */
export const auditName = (order: JobOrder): string =>
  order.action === "priority" ? `job.priority ${clampPriority(order.priority)}` : `job.${order.action}`;

/** `holds`: read before the job; null where the order does not need them. */
export function planOrder(order: JobOrder, look: JobLook, holds: Holds | null, by: OrderedBy): JobPlan {
  switch (order.action) {
    case "priority":
      return planPriority(look, clampPriority(order.priority));
    case "resume":
      return planResume(look, order.at, holds, by);
    default:
      return planMove(order.action, look, holds, by);
  }
}

const refused = (why: string, because?: string): JobPlan => ({
  kind: "refused",
  why,
  ...(because === undefined ? {} : { because }),
});
const isHeld = (look: JobLook, holds: Holds | null): boolean =>
  holds?.collections.has(look.configuration.profile_name) === true;

const EVENT_OF: Readonly<Record<Exclude<JobAction, "resume">, EventKind>> = {
  hold: "hold",
  release: "release",
  fail: "op-fail",
  delete: "delete",
};

function planMove(action: Exclude<JobAction, "resume">, look: JobLook, holds: Holds | null, by: OrderedBy): JobPlan {
  const from = look.status.status;
  const to = nextJobState(from, { by: "operator", action });
  if (to === null) return refused(`a job that is ${from} cannot be asked to ${action}`);
  const profile = look.configuration.profile_name;
  if (isHeld(look, holds)) return refused(`the collection ${profile} is still held`, profile);
  if (action === "delete" && from === "Failed" && !batchRow(look.batchStatus.status).resumable) {
    return refused(`its batch is ${look.batchStatus.status}`, look.batch);
  }
  const { who } = by;
  const message = action === "fail" ? failureMessage("OPERATOR_FAILED", `${who.name}: ${who.reason}`) : who.reason;
  return {
    kind: "go",
    checks: action === "delete" ? [batchCheck(look)] : [],
    ops: operatorMoveOps(look, by, { to, kind: EVENT_OF[action], message }),
    ends: isEnded(to) && !isEnded(from) ? look.batch : null,
  };
}

/** Failed → the stage after the last success, or an earlier one that the operator names. */
function planResume(look: JobLook, at: JobState | undefined, holds: Holds | null, by: OrderedBy): JobPlan {
  const profile = look.configuration.profile_name;
  if (isHeld(look, holds)) return refused(`the collection ${profile} is held`, profile);
  const refusal = resumeRefusal(look, at);
  if (refusal !== null) return refusal;
  const last = look.status.last_successful_status;
  const to = at ?? resumeAt(last);
  const chosenEarlier = at !== undefined && at !== resumeAt(last);
  const status = {
    retry_count: look.status.retry_count + 1,
    last_successful_status: chosenEarlier ? predecessor(at) : last,
  };
  const ops = operatorMoveOps(look, by, { to, kind: "resume", message: by.who.reason, status });
  return { kind: "go", checks: [batchCheck(look)], ops, ends: null };
}

function resumeRefusal(look: JobLook, at: JobState | undefined): JobPlan | null {
  const { status, last_successful_status: last, message } = look.status;
  const batch = look.batchStatus.status;
  if (status !== "Failed") return refused(`the job is ${status}, only a Failed one can be resumed`);
  if (!batchRow(batch).resumable) return refused(`its batch is ${batch}`, look.batch);
  if (last === null && !isResumable(message)) return refused("its payload is corrupt: a new submission is needed");
  if (at !== undefined && !resumeChoices(last).includes(at)) {
    return refused(`it can be resumed at ${resumeChoices(last).join(", ")}, not at ${at}`);
  }
  return null;
}

/** The owner, if there is one, keeps its token: only the entry's name changes under it. */
function planPriority(look: JobLook, to: number): JobPlan {
  const { id } = look;
  const { status } = look.status;
  if (isFinal(status)) return refused(`the job is ${status}: it is over`);
  if (to === look.priority) return refused(`its priority is ${to} already`);
  return {
    kind: "go",
    checks: [],
    ops: [
      { op: "check", path: paths.jobStatus(id), version: look.statusVersion },
      setOp(paths.jobPriority(id), records.priority.encode(to), look.priorityVersion),
      deleteOp(paths.queueEntry(status, look.priority, id)),
      createOp(paths.queueEntry(status, to, id)),
    ],
    ends: null,
  };
}

export interface OperatorMove {
  readonly to: JobState;
  readonly kind: EventKind;
  readonly message: string;
  readonly status?: Partial<JobStatus>;
}

/** Status, entry, buckets, history and, if somebody works on it, the lock: fencing out and freeing go together. */
export function operatorMoveOps(look: JobLook, { who, op, nowMs }: OrderedBy, move: OperatorMove): readonly Op[] {
  const from = look.status.status;
  const status: JobStatus = {
    ...look.status,
    status: move.to,
    last_modified: formatTimestamp(nowMs),
    message: move.message,
    ...move.status,
  };
  const event: NewEvent = {
    op,
    atMs: nowMs,
    kind: move.kind,
    state: from,
    by: who.name,
    detail: who.reason,
    ...(move.kind === "resume" ? { to: move.to } : {}),
  };
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
    ...forgetBodyOps(look.id, look.callbackBodyVersion),
    ...(move.to === "Failed" ? [callbackOp(look.id, failed)] : []),
  ];
}

/** A failed job leaves batch-failed: not while its batch is being reported on, and against the batch as it was read. */
export const batchCheck = (look: JobLook): Op => ({
  op: "check",
  path: paths.batchStatus(look.batch),
  version: look.batchStatusVersion,
});
