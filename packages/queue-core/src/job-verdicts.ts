/** What became of a write whose answer was lost or refused, for the owner of a job. */
import type { Op } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { hasOp } from "./fleet-job.ts";
import type { CommitResult, Lease } from "./job.ts";
import { letGo } from "./let-go.ts";
import { paths } from "./paths.ts";
import { records } from "./records.ts";
import type { Sent, Verdict } from "./send.ts";

/**
 * After a lost answer: applied if our op is in the history; to be sent again if token and lock are still ours; else
 * somebody else has moved the job. State and version alone would not tell (another's move looks the same).
 */
export async function settled(ctx: QueueContext, lease: Lease, op: string): Promise<Verdict> {
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

export async function refusal(
  ctx: QueueContext,
  lease: Lease,
  sent: Exclude<Sent, { kind: "applied" }>,
  guards: number,
): Promise<CommitResult> {
  if (sent.kind === "lost") return { kind: "lost" };
  if (sent.kind === "not-applied") {
    await letGo(ctx, [paths.jobLock(lease.id)], lease.claim, paths.jobStatus(lease.id));
    return { kind: "fenced" };
  }
  const { fault } = sent;
  if (fault.index >= 0 && fault.index < guards) return { kind: "guarded" };
  if (fault.code !== "BAD_VERSION" && fault.code !== "NO_NODE") {
    return { kind: "refused", detail: `${fault.code} ${fault.detail}` };
  }
  await letGo(ctx, [paths.jobLock(lease.id)], lease.claim, paths.jobStatus(lease.id));
  return { kind: "fenced" };
}

/** An owner's write on the way is resolved by reading it back: nobody else writes these nodes under our token. */
export async function writtenBack(ctx: QueueContext, ops: readonly Op[], lease: Lease): Promise<Verdict> {
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
