/** How a job leaves its stage: what an ending means, as one multi, sent until it is known what became of it. */
import type { Op } from "@sluice/zookeeper";
import type { Actor, QueueContext } from "./context.ts";
import { failureMessage } from "./errors.ts";
import { moved, type NewEvent } from "./fleet-job.ts";
import type { CommitResult, Ending, Guard, JobChanges, Lease, LoadedJob } from "./job.ts";
import { bucketOps, callbackOp, changeOps, deleteOp, moveOps, settleOps } from "./job-ops.ts";
import { refusal, settled } from "./job-verdicts.ts";
import { clampPriority, paths } from "./paths.ts";
import { type CallbackRecord, type EventKind, type JobStatus, records } from "./records.ts";
import { sendFenced } from "./send.ts";
import type { JobState } from "./states.ts";
import { formatTimestamp } from "./timestamp.ts";
import { nextJobState } from "./transitions.ts";

/** How often a commit is rebuilt because an operator changed the priority under it. */
const REBUILDS_MAX = 3;

/** What an ending means for the status, the history and the place of the job. */
interface Plan {
  readonly to: JobState;
  readonly status: JobStatus;
  readonly kind: EventKind;
  readonly detail: string;
  readonly changes: JobChanges;
}

function plan(lease: Lease, ending: Ending, nowMs: number): Plan | null {
  const move =
    ending.kind === "quarantine"
      ? ({ by: "runtime", outcome: ending.kind } as const)
      : ({ by: "stage", outcome: ending.kind } as const);
  const to = nextJobState(lease.state, move);
  if (to === null) return null;
  const { changes, message, detail } = words(ending);
  const status: JobStatus = {
    status: to,
    last_modified: formatTimestamp(nowMs),
    // Only a stage that was left by success counts; a parked, failed or resumed job keeps what it had.
    last_successful_status: ending.kind === "done" ? lease.state : lease.status.last_successful_status,
    retry_count: lease.status.retry_count,
    message,
  };
  return { to, status, kind: ending.kind, detail, changes };
}

function words(ending: Ending): { readonly changes: JobChanges; readonly message: string; readonly detail: string } {
  switch (ending.kind) {
    case "done":
      return { changes: ending.changes, message: ending.changes.message ?? "", detail: "" };
    case "park":
      return { changes: {}, message: ending.why, detail: ending.why };
    case "fail":
      return {
        changes: ending.changes ?? {},
        message: failureMessage(ending.code, ending.message),
        detail: ending.code,
      };
    case "quarantine":
      return { changes: {}, message: failureMessage("QUARANTINED", ending.message), detail: ending.message };
  }
}

export async function commit(
  ctx: QueueContext,
  actor: Actor,
  loaded: LoadedJob,
  ending: Ending,
  guard: Guard,
): Promise<CommitResult> {
  const nowMs = ctx.clock.nowMs();
  const planned = plan(loaded.lease, ending, nowMs);
  if (planned === null) return { kind: "refused", detail: `${loaded.lease.state} has no way for ${ending.kind}` };
  const op = ctx.newId();
  const event: NewEvent = {
    op,
    atMs: nowMs,
    kind: planned.kind,
    state: loaded.lease.state,
    by: actor.worker,
    detail: planned.detail,
  };
  let current = loaded;
  for (let rebuild = 0; rebuild <= REBUILDS_MAX; rebuild++) {
    const ops = commitOps(current, planned, event, nowMs);
    const sent = await sendFenced(ctx, { rank: "commit", shared: guard, ops }, () => settled(ctx, current.lease, op));
    if (sent.kind === "applied") return { kind: "applied", to: planned.to, zxid: sent.zxid };
    const entry = guard.length + 1; // status first, then the old entry
    if (sent.kind === "refused" && sent.fault.index === entry && sent.fault.code === "NO_NODE") {
      const renamed = await rereadPriority(ctx, current);
      if (renamed !== null) {
        current = renamed;
        continue;
      }
    }
    if (sent.kind === "refused" && sent.fault.index === entry + 1 && sent.fault.code === "NODE_EXISTS") {
      if (await removeGhost(ctx, current.lease, ops[2]?.path ?? "")) continue;
    }
    return await refusal(ctx, current.lease, sent, guard.length);
  }
  return {
    kind: "refused",
    detail: `the priority of ${loaded.lease.id} changed ${REBUILDS_MAX} times under its commit`,
  };
}

function commitOps(loaded: LoadedJob, planned: Plan, event: NewEvent, nowMs: number): readonly Op[] {
  const { lease, job, versions } = loaded;
  const toPriority = clampPriority(lease.priority + (planned.changes.priorityDelta ?? 0));
  const files = planned.changes.keepFiles === true ? lease.token : lease.fleetJob.files;
  return [
    ...moveOps(
      { id: lease.id, status: planned.status, version: lease.token },
      { id: lease.id, from: lease.state, to: planned.to, fromPriority: lease.priority, toPriority },
    ),
    ...bucketOps(job.batchId, lease.id, lease.state, planned.to),
    ...changeOps(lease.id, planned.changes, versions, { from: lease.priority, to: toPriority }),
    ...(planned.to === "Failed" ? [callbackOp(lease.id, failedCallback(loaded, planned.status, nowMs))] : []),
    ...settleOps(lease, moved(lease.fleetJob, event, files)),
  ];
}

function failedCallback({ job, lease }: LoadedJob, status: JobStatus, nowMs: number): CallbackRecord {
  return {
    job: lease.id,
    batch: job.batchId,
    outcome: "FAILED",
    retry: status.retry_count,
    message: status.message,
    at: formatTimestamp(nowMs),
  };
}

/** The entry was renamed by a change of priority; null when it was not that. */
async function rereadPriority(ctx: QueueContext, loaded: LoadedJob): Promise<LoadedJob | null> {
  const node = await ctx.session.get(paths.jobPriority(loaded.lease.id));
  if (!node.ok) return null;
  const priority = records.priority.decode(node.value.data);
  if (!priority.ok || clampPriority(priority.value) === loaded.lease.priority) return null;
  return {
    lease: { ...loaded.lease, priority: clampPriority(priority.value) },
    job: { ...loaded.job, priority: clampPriority(priority.value) },
    versions: { ...loaded.versions, priority: node.value.stat.version },
  };
}

/** An entry in our way that contradicts the job's status is a leftover of a writer without multis: it goes, fenced. */
async function removeGhost(ctx: QueueContext, lease: Lease, ghost: string): Promise<boolean> {
  const answer = await ctx.committer.submit({
    rank: "commit",
    ops: [{ op: "check", path: paths.jobStatus(lease.id), version: lease.token }, deleteOp(ghost)],
  });
  return answer.ok;
}
