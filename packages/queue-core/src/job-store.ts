/**
 * Claim, commit, give back: the life of one job in the hands of one worker. Every change is one fenced multi
 * (job-ops.ts); this file sends it and says what became of it, also when the answer was lost.
 */
import type { Fault, Op } from "@sluice/zookeeper";
import type { Actor, QueueContext } from "./context.ts";
import { failureMessage } from "./errors.ts";
import { claimed, hasOp, moved, type NewEvent, type Wait, waiting } from "./fleet-job.ts";
import type { ClaimResult, CommitResult, Ending, Guard, JobChanges, Lease, LoadedJob, ReadyCandidate } from "./job.ts";
import { bucketOps, callbackOp, changeOps, claimOps, deleteOp, giveBackOps, moveOps, settleOps } from "./job-ops.ts";
import { clampPriority, paths } from "./paths.ts";
import { type CallbackRecord, type EventKind, type FleetJob, type JobStatus, type Lock, records } from "./records.ts";
import type { JobState } from "./states.ts";
import { formatTimestamp } from "./timestamp.ts";
import { isEnded, nextJobState } from "./transitions.ts";
import { type Sent, sendFenced } from "./send.ts";

export interface JobStore {
  claim(candidate: ReadyCandidate): Promise<ClaimResult>;
  /** Moves the job to where its ending leads. `guard` = what must still hold for that. */
  commit(loaded: LoadedJob, ending: Ending, guard?: Guard): Promise<CommitResult>;
  /** Puts the job back into its queue, to be ready again after the wait. */
  giveBack(lease: Lease, kind: "snooze" | "retry" | "handback", wait: Wait): Promise<CommitResult>;
  /** Writes findings while the work goes on (an ARK before anything depends on it); the lease stays. */
  write(loaded: LoadedJob, changes: JobChanges): Promise<{ readonly result: CommitResult; readonly loaded: LoadedJob }>;
}

/** How often a commit is rebuilt because an operator changed the priority under it. */
const REBUILDS_MAX = 3;

export function makeJobStore(ctx: QueueContext, actor: Actor): JobStore {
  return {
    claim: (candidate) => claim(ctx, actor, candidate),
    commit: (loaded, ending, guard) => commit(ctx, actor, loaded, ending, guard ?? []),
    giveBack: (lease, kind, wait) => giveBack(ctx, actor, lease, kind, wait),
    write: (loaded, changes) => write(ctx, loaded, changes),
  };
}

async function claim(ctx: QueueContext, actor: Actor, candidate: ReadyCandidate): Promise<ClaimResult> {
  const nowMs = ctx.clock.nowMs();
  const { id } = candidate.entry;
  const lock: Lock = { owner: actor.worker, stage: actor.stage, claim: ctx.newId(), since: formatTimestamp(nowMs) };
  const fleetJob = claimed(candidate.fleetJob, actor.worker, nowMs);
  const ops = claimOps(candidate, lock, fleetJob);
  const sent = await sendFenced(ctx, { rank: "claim", ops }, async () => {
    const node = await ctx.session.get(paths.jobLock(id));
    if (!node.ok) return node.code === "NO_NODE" ? "not-applied" : "ask-again";
    const found = records.lock.decode(node.value.data);
    return found.ok && found.value.claim === lock.claim ? "applied" : "not-applied";
  });
  if (sent.kind === "applied") {
    return { kind: "acquired", lease: leaseOf(ctx, candidate, lock.claim, fleetJob) };
  }
  // A claim that is not ours after all is dropped, not sent again: others may have it by now.
  if (sent.kind === "not-applied") return { kind: "gone" };
  if (sent.kind === "lost") return { kind: "lost", detail: "session lost" };
  return claimRefusal(ops, sent.fault);
}

function claimRefusal(ops: readonly Op[], fault: Fault & { readonly index: number }): ClaimResult {
  if (fault.code === "NODE_EXISTS") return { kind: "held" };
  if (fault.code === "NO_NODE" || fault.code === "BAD_VERSION") return { kind: "gone" };
  return { kind: "lost", detail: `claim ${ops[fault.index]?.path ?? ""}: ${fault.code} ${fault.detail}` };
}

function leaseOf(ctx: QueueContext, candidate: ReadyCandidate, claimId: string, fleetJob: FleetJob): Lease {
  return {
    id: candidate.entry.id,
    state: candidate.state,
    claim: claimId,
    token: candidate.statusVersion + 1,
    priority: candidate.entry.priority,
    status: candidate.status,
    statusBytes: candidate.statusBytes,
    fleetJob,
    fleetJobVersion: candidate.fleetJobVersion + 1,
    waitedMs: Math.max(0, ctx.session.serverNowMs() - candidate.readyAtMs),
  };
}

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

async function commit(
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

async function giveBack(
  ctx: QueueContext,
  actor: Actor,
  lease: Lease,
  kind: "snooze" | "retry" | "handback",
  wait: Wait,
): Promise<CommitResult> {
  const op = ctx.newId();
  const event: NewEvent = { op, atMs: ctx.clock.nowMs(), kind, state: lease.state, by: actor.worker, detail: wait.why };
  const ops = giveBackOps(lease, waiting(lease.fleetJob, wait, event));
  const sent = await sendFenced(ctx, { rank: "commit", ops }, () => settled(ctx, lease, op));
  if (sent.kind === "applied") return { kind: "applied", to: lease.state, zxid: sent.zxid };
  return await refusal(ctx, lease, sent, 0);
}

/**
 * After a lost answer: applied if our op is in the history; to be sent again if token and lock are still ours; else
 * somebody else has moved the job. State and version alone would not tell (another's move looks the same).
 */
async function settled(
  ctx: QueueContext,
  lease: Lease,
  op: string,
): Promise<"applied" | "send-again" | "not-applied" | "ask-again"> {
  const answers = await ctx.session.readMany([
    { get: paths.fleetJob(lease.id) },
    { get: paths.jobStatus(lease.id) },
    { get: paths.jobLock(lease.id) },
  ]);
  if (!answers.ok) return "ask-again";
  const [fleetNode, statusNode, lockNode] = answers.value;
  if (fleetNode?.kind === "node") {
    const history = records.fleetJob.decode(fleetNode.node.data);
    if (history.ok && hasOp(history.value, op)) return "applied";
  }
  const atToken = statusNode?.kind === "node" && statusNode.node.stat.version === lease.token;
  const lock = lockNode?.kind === "node" ? records.lock.decode(lockNode.node.data) : null;
  return atToken && lock?.ok === true && lock.value.claim === lease.claim ? "send-again" : "not-applied";
}

async function refusal(
  ctx: QueueContext,
  lease: Lease,
  sent: Exclude<Sent, { kind: "applied" }>,
  guards: number,
): Promise<CommitResult> {
  if (sent.kind === "lost") return { kind: "lost" };
  if (sent.kind === "not-applied") {
    await dropOwnLock(ctx, lease);
    return { kind: "fenced" };
  }
  const { fault } = sent;
  if (fault.index >= 0 && fault.index < guards) return { kind: "guarded" };
  if (fault.code !== "BAD_VERSION" && fault.code !== "NO_NODE") {
    return { kind: "refused", detail: `${fault.code} ${fault.detail}` };
  }
  await dropOwnLock(ctx, lease);
  return { kind: "fenced" };
}

/**
 * An owner that was fenced out while its session lives removes its own lock, and nothing else: left there it would
 * keep the job from everyone until this process ends.
 */
async function dropOwnLock(ctx: QueueContext, lease: Lease): Promise<void> {
  const answers = await ctx.session.readMany([{ get: paths.jobStatus(lease.id) }, { get: paths.jobLock(lease.id) }]);
  if (!answers.ok) return; // The session is in trouble: if it dies, so does the lock.
  const [statusNode, lockNode] = answers.value;
  if (statusNode?.kind !== "node" || lockNode?.kind !== "node") return;
  const lock = records.lock.decode(lockNode.node.data);
  if (!lock.ok || lock.value.claim !== lease.claim) return;
  await ctx.committer.submit({
    rank: "commit",
    ops: [
      { op: "check", path: paths.jobStatus(lease.id), version: statusNode.node.stat.version },
      deleteOp(paths.jobLock(lease.id), lockNode.node.stat.version),
    ],
  });
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

async function write(
  ctx: QueueContext,
  loaded: LoadedJob,
  changes: JobChanges,
): Promise<{ readonly result: CommitResult; readonly loaded: LoadedJob }> {
  const { lease, versions } = loaded;
  const priority = { from: lease.priority, to: lease.priority };
  const ops: readonly Op[] = [
    { op: "check", path: paths.jobStatus(lease.id), version: lease.token },
    ...changeOps(lease.id, changes, versions, priority),
  ];
  const bumped = (version: number | null, written: boolean): number | null =>
    written ? (version === null ? 0 : version + 1) : version;
  const after: LoadedJob = {
    lease,
    job: {
      ...loaded.job,
      ...(changes.spaceNeeded === undefined ? {} : { spaceNeeded: changes.spaceNeeded }),
      ...(changes.identifiers === undefined ? {} : { identifiers: changes.identifiers }),
      ...(changes.metadata === undefined ? {} : { metadata: changes.metadata }),
      ...(changes.inventory === undefined ? {} : { inventory: changes.inventory }),
    },
    versions: {
      priority: versions.priority,
      spaceNeeded: bumped(versions.spaceNeeded, changes.spaceNeeded !== undefined) ?? 0,
      identifiers: bumped(versions.identifiers, changes.identifiers !== undefined),
      metadata: bumped(versions.metadata, changes.metadata !== undefined),
      inventory: bumped(versions.inventory, changes.inventory !== undefined),
    },
  };
  const sent = await sendFenced(ctx, { rank: "commit", ops }, () => writtenBack(ctx, ops, lease));
  if (sent.kind === "applied") return { result: { kind: "applied", to: lease.state, zxid: sent.zxid }, loaded: after };
  return { result: await refusal(ctx, lease, sent, 0), loaded };
}

/** An owner's write on the way is resolved by reading it back: nobody else writes these nodes under our token. */
async function writtenBack(
  ctx: QueueContext,
  ops: readonly Op[],
  lease: Lease,
): Promise<"applied" | "send-again" | "not-applied" | "ask-again"> {
  const writes = ops.flatMap((op) => (op.op === "set" || op.op === "create" ? [op] : []));
  const answers = await ctx.session.readMany([
    { get: paths.jobStatus(lease.id) },
    ...writes.map(({ path }) => ({ get: path })),
  ]);
  if (!answers.ok) return "ask-again";
  const [status, ...nodes] = answers.value;
  if (status?.kind !== "node" || status.node.stat.version !== lease.token) return "not-applied";
  const same = nodes.every((node, i) => node.kind === "node" && writes[i]?.data.equals(node.node.data) === true);
  return same ? "applied" : "send-again";
}

export const endsJob = (result: CommitResult): boolean => result.kind === "applied" && isEnded(result.to);
