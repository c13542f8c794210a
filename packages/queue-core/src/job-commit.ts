/** How a job leaves its stage: what an ending means, as one multi, sent until it is known what became of it. */
import type { Op } from "@sluice/zookeeper";
import type { Actor, QueueContext } from "./context.ts";
import { failureMessage } from "./errors.ts";
import { moved, type NewEvent } from "./fleet-job.ts";
import type { CommitResult, Ending, Guard, JobChanges, Lease, LoadedJob } from "./job.ts";
import { bucketOps, callbackOp, changeOps, deleteOp, forgetBodyOps, moveOps, settleOps } from "./job-ops.ts";
import { refusal, settled } from "./job-verdicts.ts";
import { nodeOf } from "./nodes.ts";
import { clampPriority, meaningOf, paths } from "./paths.ts";
import { type CallbackRecord, type EventKind, type JobStatus, records } from "./records.ts";
import { sendFenced } from "./send.ts";
import type { JobState } from "./states.ts";
import { formatTimestamp } from "./timestamp.ts";
import { bucketOf, nextJobState } from "./transitions.ts";

/** How often a commit is rebuilt because a node beside the fence changed under it. */
const REBUILDS_MAX = 3;
/** Stands first among a commit's ops; the lock stands last. */
const STATUS = 0;

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
    case "fail": {
      const message = failureMessage(ending.code, ending.message);
      return { changes: ending.changes ?? {}, message, detail: message };
    }
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
  // A claim is settled once: its own id is the op, by which any process finds in the history what became of it.
  const op = loaded.lease.claim;
  const event: NewEvent = {
    op,
    atMs: nowMs,
    kind: planned.kind,
    state: loaded.lease.state,
    by: actor.worker,
    detail: planned.detail,
  };
  let current: Current = { loaded, missing: NOTHING };
  for (let rebuild = 0; rebuild <= REBUILDS_MAX; rebuild++) {
    const { lease } = current.loaded;
    const ops = commitOps(current, planned, event, nowMs);
    const sent = await sendFenced(ctx, { rank: "commit", shared: guard, ops }, () => settled(ctx, lease, op));
    if (sent.kind === "applied") return { kind: "applied", to: planned.to, zxid: sent.zxid };
    const at = sent.kind === "refused" ? sent.fault.index - guard.length : -1;
    // Neither the status nor the lock, which are the fence: a node beside them has changed (the priority, mostly).
    const culprit = at > STATUS && at < ops.length - 1 ? ops[at] : undefined;
    if (sent.kind === "refused" && culprit !== undefined) {
      if (sent.fault.code === "NODE_EXISTS" && isPlace(culprit.path)) {
        if (await removeGhost(ctx, lease, culprit.path)) continue;
      }
      const fresh = isStale(sent.fault.code) ? await lookAgain(ctx, current.loaded) : null;
      if (fresh !== null) {
        current = fresh;
        continue;
      }
    }
    return await refusal(ctx, lease, sent, guard.length);
  }
  return {
    kind: "refused",
    detail: `the nodes of ${loaded.lease.id} changed ${REBUILDS_MAX} times under its commit`,
  };
}

interface Current {
  readonly loaded: LoadedJob;
  /** Old places that are not there: somebody without transactions took them away. */
  readonly missing: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();

function commitOps({ loaded, missing }: Current, planned: Plan, event: NewEvent, nowMs: number): readonly Op[] {
  const ops = wholeCommitOps(loaded, planned, event, nowMs);
  if (missing.size === 0) return ops;
  const [status, ...others] = ops.filter((each) => each.op !== "delete" || !missing.has(each.path));
  // Under another priority the entry has another name, and would be left behind.
  const path = paths.jobPriority(loaded.lease.id);
  const samePriority: Op = { op: "check", path, version: loaded.versions.priority };
  return status === undefined ? [] : [status, samePriority, ...others];
}

function wholeCommitOps(loaded: LoadedJob, planned: Plan, event: NewEvent, nowMs: number): readonly Op[] {
  const { lease, job, versions } = loaded;
  const toPriority = clampPriority(lease.priority + (planned.changes.priorityDelta ?? 0));
  return [
    ...moveOps(
      { id: lease.id, status: planned.status, version: lease.token },
      { id: lease.id, from: lease.state, to: planned.to, fromPriority: lease.priority, toPriority },
    ),
    ...bucketOps(job.batchId, lease.id, lease.state, planned.to),
    ...changeOps(lease.id, planned.changes, versions, { from: lease.priority, to: toPriority }),
    ...(planned.to === "Failed" ? [callbackOp(lease.id, failedCallback(loaded, planned.status, nowMs))] : []),
    ...forgetBodyOps(lease.id, versions.callbackBody),
    ...settleOps(lease, moved(lease.fleetJob, event, planned.changes.keepFiles === true ? job.claim : undefined)),
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

const isStale = (code: string): boolean => code === "NO_NODE" || code === "BAD_VERSION";

const isPlace = (path: string): boolean => {
  const { kind } = meaningOf(path);
  return kind === "queue-entry" || kind === "bucket-entry";
};

/** The job's data nodes and old places as they are now, under the same token; null = no answer. */
async function lookAgain(ctx: QueueContext, loaded: LoadedJob): Promise<Current | null> {
  const fresh = await withFreshData(ctx, loaded);
  if (fresh === null) return null;
  const { id, state, priority } = fresh.lease;
  const places = [paths.queueEntry(state, priority, id), paths.bucketEntry(fresh.job.batchId, bucketOf(state), id)];
  const answers = await ctx.session.readMany(places.map((get) => ({ get })));
  if (!answers.ok) return null;
  return { loaded: fresh, missing: new Set(places.filter((_, i) => answers.value[i]?.kind === "none")) };
}

async function withFreshData(ctx: QueueContext, loaded: LoadedJob): Promise<LoadedJob | null> {
  const { id } = loaded.lease;
  const nodes = [
    paths.jobPriority(id),
    paths.jobSpaceNeeded(id),
    paths.jobIdentifiers(id),
    paths.jobMetadata(id),
    paths.jobInventory(id),
    paths.callbackBody(id),
  ];
  const answers = await ctx.session.readMany(nodes.map((path) => ({ get: path })));
  if (!answers.ok) return null;
  const [priorityNode, space, identifiers, metadata, inventory, body] = answers.value.map(nodeOf);
  const decoded = priorityNode ? records.priority.decode(priorityNode.data) : null;
  if (!priorityNode || decoded?.ok !== true) return null;
  const priority = clampPriority(decoded.value);
  return {
    lease: { ...loaded.lease, priority },
    job: { ...loaded.job, priority },
    versions: {
      priority: priorityNode.stat.version,
      spaceNeeded: space?.stat.version ?? 0,
      identifiers: identifiers?.stat.version ?? null,
      metadata: metadata?.stat.version ?? null,
      inventory: inventory?.stat.version ?? null,
      callbackBody: body?.stat.version ?? null,
    },
  };
}

/** A place in our way that contradicts the job's status is a leftover of a writer without multis: it goes, fenced. */
async function removeGhost(ctx: QueueContext, lease: Lease, ghost: string): Promise<boolean> {
  const answer = await ctx.committer.submit({
    rank: "commit",
    ops: [{ op: "check", path: paths.jobStatus(lease.id), version: lease.token }, deleteOp(ghost)],
  });
  return answer.ok;
}
