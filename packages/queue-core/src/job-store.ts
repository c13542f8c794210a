/**
 * Claim, commit, give back: the life of one job in the hands of one worker. Every change is one fenced multi
 * (job-ops.ts); this file sends it and says what became of it, also when the answer was lost.
 */
import type { Fault, Op } from "@sluice/zookeeper";
import { adopted, adoptionOps, noted } from "./adopt-job.ts";
import type { Actor, QueueContext } from "./context.ts";
import { claimed, lostWorker, type NewEvent, type Wait, waiting } from "./fleet-job.ts";
import type { ClaimResult, CommitResult, Ending, Guard, JobChanges, Lease, LoadedJob, ReadyCandidate } from "./job.ts";
import { commit } from "./job-commit.ts";
import { changeOps, claimOps, giveBackOps } from "./job-ops.ts";
import { letGo } from "./let-go.ts";
import { refusal, settled, writtenBack } from "./job-verdicts.ts";
import { paths } from "./paths.ts";
import { type FleetJob, type Lock, records } from "./records.ts";
import { sendFenced } from "./send.ts";
import { formatTimestamp } from "./timestamp.ts";
import { isEnded } from "./transitions.ts";

export interface JobStore {
  claim(candidate: ReadyCandidate): Promise<ClaimResult>;
  /** Moves the job to where its ending leads. `guard` = what must still hold for that. */
  commit(loaded: LoadedJob, ending: Ending, guard?: Guard): Promise<CommitResult>;
  /** Puts the job back into its queue, to be ready again after the wait. */
  giveBack(lease: Lease, kind: "snooze" | "retry" | "handback", wait: Wait): Promise<CommitResult>;
  /** Lets go of the job as the death of its worker would: the attempt stays counted, and the next claim is told of the loss. */
  leave(lease: Lease): Promise<void>;
  /** Writes findings while the work goes on (an ARK before anything depends on it); the lease stays. */
  write(loaded: LoadedJob, changes: JobChanges): Promise<{ readonly result: CommitResult; readonly loaded: LoadedJob }>;
}

export function makeJobStore(ctx: QueueContext, actor: Actor): JobStore {
  return {
    claim: (candidate) => claim(ctx, actor, candidate),
    commit: (loaded, ending, guard) => commit(ctx, actor, loaded, ending, guard ?? []),
    giveBack: (lease, kind, wait) => giveBack(ctx, actor, lease, kind, wait),
    leave: (lease) => letGo(ctx, [paths.jobLock(lease.id)], lease.claim, paths.jobStatus(lease.id)),
    write: (loaded, changes) => write(ctx, loaded, changes),
  };
}

async function claim(ctx: QueueContext, actor: Actor, candidate: ReadyCandidate): Promise<ClaimResult> {
  const nowMs = ctx.clock.nowMs();
  const { id } = candidate.entry;
  const lock: Lock = { owner: actor.worker, stage: actor.stage, claim: ctx.newId(), since: formatTimestamp(nowMs) };
  const adoption = candidate.beside?.kind === "made" ? await adoptionOps(ctx, id) : [];
  if (adoption === null) return { kind: "lost", detail: `${id} could not be read` };
  const fleetJob = claimed(historyBefore(ctx, actor, candidate, nowMs), {
    op: ctx.newId(),
    atMs: nowMs,
    state: candidate.state,
    worker: actor.worker,
    token: candidate.statusVersion + 1,
  });
  const ops = claimOps(candidate, lock, fleetJob, adoption);
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

/** With what a library beside us did, which it wrote down nowhere. */
function historyBefore(ctx: QueueContext, actor: Actor, candidate: ReadyCandidate, nowMs: number): FleetJob {
  const { beside, fleetJob, state } = candidate;
  const event = { op: ctx.newId(), atMs: nowMs, by: actor.worker };
  switch (beside?.kind) {
    case undefined:
      return fleetJob;
    case "made":
      return adopted({ ...event, state });
    case "moved":
      return noted(fleetJob, { ...event, from: beside.from, to: state });
  }
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
    lastToken: candidate.fleetJob.token ?? null,
    fleetJob,
    fleetJobVersion: candidate.fleetJobVersion === null ? 0 : candidate.fleetJobVersion + 1,
    lostWorker: lostWorker(candidate.fleetJob),
    waitedMs: Math.max(0, ctx.session.serverNowMs() - candidate.readyAtMs),
  };
}

async function giveBack(
  ctx: QueueContext,
  actor: Actor,
  lease: Lease,
  kind: "snooze" | "retry" | "handback",
  wait: Wait,
): Promise<CommitResult> {
  const op = lease.claim;
  const event: NewEvent = { op, atMs: ctx.clock.nowMs(), kind, state: lease.state, by: actor.worker, detail: wait.why };
  const ops = giveBackOps(lease, waiting(lease.fleetJob, wait, event));
  const sent = await sendFenced(ctx, { rank: "commit", ops }, () => settled(ctx, lease, op));
  if (sent.kind === "applied") return { kind: "applied", to: lease.state, zxid: sent.zxid };
  return await refusal(ctx, lease, sent, 0);
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
      ...(changes.callbackBody === undefined ? {} : { callbackBody: changes.callbackBody }),
    },
    versions: {
      priority: versions.priority,
      spaceNeeded: bumped(versions.spaceNeeded, changes.spaceNeeded !== undefined) ?? 0,
      identifiers: bumped(versions.identifiers, changes.identifiers !== undefined),
      metadata: bumped(versions.metadata, changes.metadata !== undefined),
      inventory: bumped(versions.inventory, changes.inventory !== undefined),
      callbackBody: bumped(versions.callbackBody, changes.callbackBody !== undefined),
    },
  };
  const sent = await sendFenced(ctx, { rank: "commit", ops }, () => writtenBack(ctx, ops, lease));
  if (sent.kind === "applied") return { result: { kind: "applied", to: lease.state, zxid: sent.zxid }, loaded: after };
  return { result: await refusal(ctx, lease, sent, 0), loaded };
}

export const endsJob = (result: CommitResult): boolean => result.kind === "applied" && isEnded(result.to);
