/** Claim, settle, release: the life of one batch in the hands of one worker. Every change is one fenced multi. */
import type { Node, Op } from "@sluice/zookeeper";
import type { BatchClaimResult, BatchEnding, BatchLease, LoadedBatch } from "./batch.ts";
import {
  claimBatchOps,
  expansionOp,
  failedProofOp,
  gateOps,
  moveBatchOps,
  releaseBatchOps,
  reportOp,
  unlockBatchOp,
} from "./batch-ops.ts";
import type { Actor, QueueContext } from "./context.ts";
import { failureMessage } from "./errors.ts";
import { type BatchId, parseJobId } from "./ids.ts";
import type { Guard } from "./job.ts";
import { createOp } from "./job-ops.ts";
import { letGo } from "./let-go.ts";
import { nodeOf, optional, required } from "./nodes.ts";
import { NEVER_IMPORTED } from "./our-batch.ts";
import { paths } from "./paths.ts";
import { type BatchStatus, type Expansion, type Lock, records } from "./records.ts";
import { storeReport } from "./reports.ts";
import { sendFenced, type Verdict } from "./send.ts";
import { type BatchState, BUCKETS } from "./states.ts";
import { formatTimestamp } from "./timestamp.ts";
import { nextBatchState } from "./transitions.ts";

export type BatchCommitResult =
  | { readonly kind: "applied"; readonly to: BatchState }
  | { readonly kind: "fenced" }
  | { readonly kind: "guarded" }
  /** A job came back or failed while the verdict was being written: look again. */
  | { readonly kind: "gate-shut" }
  | { readonly kind: "lost" }
  | { readonly kind: "refused"; readonly detail: string };

export interface BatchStore {
  claim(state: BatchState, id: BatchId): Promise<BatchClaimResult>;
  settle(loaded: LoadedBatch, ending: BatchEnding, guard?: Guard): Promise<BatchCommitResult>;
}

export function makeBatchStore(ctx: QueueContext, actor: Actor): BatchStore {
  return {
    claim: (state, id) => claim(ctx, actor, state, id),
    settle: (loaded, ending, guard) => settle(ctx, loaded, ending, guard ?? []),
  };
}

/** Parents first. A batch that another library has made has none of them before it is started. */
const FRAME: readonly ((id: BatchId) => string)[] = [
  paths.batchStates,
  ...BUCKETS.filter((bucket) => bucket !== "batch-processing").map(
    (bucket) => (id: BatchId) => paths.bucket(id, bucket),
  ),
  (id) => paths.bucket(id, "batch-processing"),
];

async function claim(ctx: QueueContext, actor: Actor, state: BatchState, id: BatchId): Promise<BatchClaimResult> {
  const answers = await ctx.session.readMany([
    { get: paths.batchStatus(id) },
    { get: paths.fleetBatch(state, id) },
    { get: paths.batchLock(id) },
    { get: paths.batchSubmission(id) },
    { get: paths.expansion(id) },
    { get: paths.batchReport(id) },
    ...FRAME.map((get) => ({ get: get(id) })),
  ]);
  if (!answers.ok) return { kind: "lost", detail: `${answers.code} ${answers.detail}` };
  const [status, entry, lock, submission, expansion, report, ...frame] = answers.value.map(nodeOf);
  const processing = frame[FRAME.length - 1];
  if (!status || !entry) return { kind: "gone" };
  if (lock) return { kind: "held" };
  const read = decode(status, submission ?? null, expansion ?? null, report ?? null);
  if (!read.ok) return { kind: "broken", problem: read.problem };
  if (read.value.status.status !== state) return { kind: "gone" };
  const obstacle = isReported(state) ? reportObstacle(read.value.expansion, processing?.stat.numChildren ?? 0) : null;
  if (obstacle !== null) return { kind: "broken", problem: `${id} ${obstacle}` };

  const lease: BatchLease = {
    id,
    state,
    claim: ctx.newId(),
    token: status.stat.version + 1,
    statusBytes: status.data,
    entryVersion: entry.stat.version + 1,
    lostWorker: lostWorker(entry, status),
  };
  const loaded: LoadedBatch = {
    lease,
    batch: { id, state, attempt: lease.entryVersion, ...read.value },
    expansionVersion: expansion?.stat.version ?? null,
    reportVersion: report?.stat.version ?? null,
    missing: FRAME.filter((_, i) => !frame[i]).map((path) => path(id)),
  };
  const since = formatTimestamp(ctx.clock.nowMs());
  const newLock: Lock = { owner: actor.worker, stage: actor.stage, claim: lease.claim, since };
  const sent = await sendFenced(ctx, { rank: "claim", ops: claimBatchOps(lease, newLock) }, async () => {
    const mine = await holdsLock(ctx, lease);
    return mine === null ? "ask-again" : mine ? "applied" : "not-applied";
  });
  if (sent.kind === "applied") return { kind: "acquired", loaded };
  if (sent.kind === "lost") return { kind: "lost", detail: "session lost" };
  return { kind: sent.kind === "refused" && sent.fault.code === "NODE_EXISTS" ? "held" : "gone" };
}

/** A claim after which nothing was written: its worker died, or lost its session. Only tells of a batch that is not locked. */
function lostWorker(entry: Node, status: Node): string | null {
  const last = records.batchClaim.decode(entry.data);
  return last.ok && last.value.token === status.stat.version ? last.value.worker : null;
}

const isReported = (state: BatchState): boolean => state === "Reporting" || state === "UpdateReporting";

/** No move of ours leaves such a batch, but others write here too: what a report would say of it would not be true. */
function reportObstacle(expansion: Expansion | null, underWay: number): string | null {
  if (expansion === null) return NEVER_IMPORTED;
  if (expansion.created < expansion.rows) return `has ${expansion.created} jobs for ${expansion.rows} rows`;
  return underWay === 0 ? null : `is to be reported, and ${underWay} jobs of it are in batch-processing: run fsck`;
}

function decode(status: Node, submission: Node | null, expansion: Node | null, report: Node | null) {
  const parts = {
    status: records.batchStatus.decode(status.data),
    submission: required(records.submission, submission),
    expansion: optional(records.expansion, expansion),
    report: optional(records.statusReport, report),
  };
  if (!parts.status.ok) return parts.status;
  if (!parts.submission.ok) return parts.submission;
  if (!parts.expansion.ok) return parts.expansion;
  if (!parts.report.ok) return parts.report;
  return {
    ok: true as const,
    value: {
      status: parts.status.value,
      submission: parts.submission.value,
      expansion: parts.expansion.value,
      report: parts.report.value,
    },
  };
}

/** null when the question could not be answered. */
async function holdsLock(ctx: QueueContext, lease: BatchLease): Promise<boolean | null> {
  const node = await ctx.session.get(paths.batchLock(lease.id));
  if (!node.ok) return node.code === "NO_NODE" ? false : null;
  const lock = records.lock.decode(node.value.data);
  return lock.ok && lock.value.claim === lease.claim;
}

interface BatchPlan {
  readonly to: BatchState;
  readonly ops: readonly Op[];
  /** Indices of the ops that prove a bucket empty, or a job failed. */
  readonly gate: readonly number[];
  readonly expansion: Expansion | null;
}

async function settle(
  ctx: QueueContext,
  loaded: LoadedBatch,
  ending: BatchEnding,
  guard: Guard,
): Promise<BatchCommitResult> {
  const op = ctx.newId();
  const plan = await planOf(ctx, loaded, ending, op);
  if ("problem" in plan) return { kind: "refused", detail: plan.problem };
  const { lease } = loaded;
  const sent = await sendFenced(ctx, { rank: "commit", shared: guard, ops: plan.ops }, () =>
    settled(ctx, lease, plan, op),
  );
  if (sent.kind === "applied") return { kind: "applied", to: plan.to };
  if (sent.kind === "lost") return sent;
  if (sent.kind === "refused") {
    const { code, detail } = sent.fault;
    const index = sent.fault.index - guard.length;
    if (sent.fault.index >= 0 && index < 0) return { kind: "guarded" };
    if (plan.gate.includes(index)) return { kind: "gate-shut" };
    if (code !== "BAD_VERSION" && code !== "NO_NODE") return { kind: "refused", detail: `${code} ${detail}` };
  }
  await dropOwnBatchLock(ctx, lease);
  return { kind: "fenced" };
}

async function planOf(
  ctx: QueueContext,
  loaded: LoadedBatch,
  ending: BatchEnding,
  op: string,
): Promise<BatchPlan | { readonly problem: string }> {
  const { lease, batch } = loaded;
  if (ending.kind === "release") {
    const ops = releaseBatchOps(lease, ending.counted === true);
    return { to: lease.state, ops, gate: [], expansion: null };
  }
  const outcome = outcomeOf(ending);
  const to = nextBatchState(lease.state, { by: "stage", outcome });
  if (to === null) return { problem: `${lease.state} has no way for ${ending.kind}` };
  const status = batchStatus(ctx, to, ending);
  const move = moveBatchOps({
    id: lease.id,
    from: lease.state,
    status,
    statusVersion: lease.token,
    entryVersion: lease.entryVersion,
  });
  const finish = (middle: readonly Op[], gate: readonly number[], expansion: Expansion | null): BatchPlan => ({
    to,
    ops: [
      ...move,
      ...middle,
      ...(expansion === null ? [] : [expansionOp(lease.id, expansion, loaded.expansionVersion)]),
      unlockBatchOp(lease.id),
    ],
    gate: gate.map((i) => i + move.length),
    expansion,
  });
  const frame = (loaded.missing ?? []).map((path) => createOp(path));
  switch (ending.kind) {
    case "start":
      return finish([...frame, createOp(paths.queuedMail(lease.id))], [], {
        rows: ending.rows,
        created: 0,
        digest: ending.digest,
        reports: 0,
        op,
      });
    case "park":
      return finish([], [], null);
    case "fail": {
      const before = batch.expansion ?? { rows: 0, created: 0, digest: "", reports: 0, op };
      // Once a job exists the batch must report on it: rows that cannot become work become failed jobs instead.
      if (before.created > 0) return { problem: "a batch with jobs cannot fail as a whole" };
      return finish(frame, [], { ...before, op });
    }
    case "verdict": {
      const before = batch.expansion;
      if (before === null) return { problem: "a batch without expansion cannot report" };
      const stored = await storeReport(ctx, lease.id, before.reports + 1, ending.report);
      if (stored === null) return { problem: "the report's lists could not be written" };
      const failedJob = ending.report.failed_jobs[0];
      const proof = proofOps(lease.id, failedJob);
      if (proof === null) return { problem: `no job id: ${failedJob ?? ""}` };
      const report = reportOp(lease.id, stored, loaded.reportVersion);
      const gate = proof.map((_, i) => i);
      return finish([...proof, report], gate, { ...before, reports: before.reports + 1, op });
    }
  }
}

function proofOps(id: BatchId, failedJob: string | undefined): readonly Op[] | null {
  if (failedJob === undefined) return gateOps(id, "batch-failed");
  const job = parseJobId(failedJob);
  return job === null ? null : [failedProofOp(id, job)];
}

function outcomeOf(ending: Exclude<BatchEnding, { kind: "release" }>): "done" | "fail" | "park" {
  switch (ending.kind) {
    case "start":
      return "done";
    case "park":
    case "fail":
      return ending.kind;
    case "verdict":
      return ending.report.failed_jobs.length === 0 ? "done" : "fail";
  }
}

function batchStatus(ctx: QueueContext, to: BatchState, ending: BatchEnding): BatchStatus {
  const message =
    ending.kind === "fail"
      ? failureMessage(ending.code, ending.message)
      : ending.kind === "park"
        ? ending.why
        : ending.kind === "verdict" && ending.report.failed_jobs.length > 0
          ? `${ending.report.failed_jobs.length} of ${ending.report.failed_jobs.length + ending.report.successful_jobs.length} jobs failed`
          : "";
  return { status: to, last_modified: formatTimestamp(ctx.clock.nowMs()), message };
}

/**
 * After a lost answer. With an expansion the op decides. Without one (park, release) the lock does: nobody but its
 * owner moves a batch out of these states, so "not at the token and the lock is gone" is our own doing.
 */
async function settled(ctx: QueueContext, lease: BatchLease, plan: BatchPlan, op: string): Promise<Verdict> {
  const answers = await ctx.session.readMany([
    { get: paths.batchStatus(lease.id) },
    { get: paths.batchLock(lease.id) },
    { get: paths.expansion(lease.id) },
  ]);
  if (!answers.ok) return "ask-again";
  const [status, lockNode, expansionNode] = answers.value.map(nodeOf);
  const lock = lockNode ? records.lock.decode(lockNode.data) : null;
  const mine = lock?.ok === true && lock.value.claim === lease.claim;
  if (status?.stat.version === lease.token && mine) return "send-again";
  if (plan.expansion === null) {
    const now = status ? records.batchStatus.decode(status.data) : null;
    const moved = status?.stat.version === lease.token + 1 && now?.ok === true && now.value.status === plan.to;
    return moved && !mine ? "applied" : "not-applied";
  }
  const expansion = expansionNode ? records.expansion.decode(expansionNode.data) : null;
  return expansion?.ok === true && expansion.value.op === op ? "applied" : "not-applied";
}

/** As for jobs: fenced out with the session alive, an owner removes its own lock and nothing else. */
export const dropOwnBatchLock = (ctx: QueueContext, lease: BatchLease): Promise<void> =>
  letGo(ctx, [paths.batchLock(lease.id)], lease.claim, paths.batchStatus(lease.id));
