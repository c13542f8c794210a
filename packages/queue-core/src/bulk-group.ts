/**
 * One order for several jobs in one multi. Each job keeps all its fences, and a refusal names the job, which is taken out
 * and answered for itself. The audit has one record of the whole order: with the first group, or with the operation that
 * the groups belong to. What became of a job stands in its own history.
 */
import type { Op } from "@sluice/zookeeper";
import { auditOps } from "./audit.ts";
import type { QueueContext } from "./context.ts";
import { type Holds, holdsGuard } from "./holds.ts";
import type { BatchId, JobId } from "./ids.ts";
import { hasOp } from "./fleet-job.ts";
import { nodeOf, readable } from "./nodes.ts";
import { inAudit, mayTouch, type NotApplied, type Operator, whoIn } from "./operator.ts";
import type { Looked } from "./operator-look.ts";
import { auditName, type JobOrder, type OrderedBy, planOrder } from "./operator-plans.ts";
import { paths } from "./paths.ts";
import { type AuditedJobs, type AuditHead, records } from "./records.ts";
import { sendFenced, type Verdict } from "./send.ts";
import { formatTimestamp } from "./timestamp.ts";
import { lastChangeOf } from "./who-won.ts";

export interface Member {
  readonly id: JobId;
  readonly op: string;
  readonly checks: readonly Op[];
  readonly ops: readonly Op[];
  readonly ends: BatchId | null;
}

export interface KnownHead {
  readonly head: AuditHead;
  readonly version: number;
}

export interface BulkOrder {
  readonly order: JobOrder;
  readonly who: Operator;
}

export type Planned =
  { readonly kind: "member"; readonly member: Member } | { readonly kind: "out"; readonly result: NotApplied };

/** Pure: what the order means for one job as it was read. */
export function planMember(
  { order, who }: BulkOrder,
  id: JobId,
  looked: Looked,
  holds: Holds | null,
  by: Pick<OrderedBy, "op" | "nowMs">,
): Planned {
  if (looked.kind !== "found") return { kind: "out", result: looked };
  if (!mayTouch(who, looked.look.configuration.profile_name)) return { kind: "out", result: { kind: "not-found" } };
  const plan = planOrder(order, looked.look, holds, { who, ...by });
  if (plan.kind === "refused") {
    const last = plan.because === undefined ? lastChangeOf(looked.look.fleetJob) : undefined;
    return { kind: "out", result: { kind: "refused", why: plan.why, last } };
  }
  return { kind: "member", member: { id, op: by.op, checks: plan.checks, ops: plan.ops, ends: plan.ends } };
}

export type GroupResult =
  | { readonly kind: "applied" }
  /** What all of them rely on has changed (the audit's head, a hold, a batch): look again. */
  | { readonly kind: "look-again" }
  /** This one has changed since it was read, or is broken; the others have not been tried. */
  | { readonly kind: "out"; readonly id: JobId; readonly why: string }
  /** Somebody else has written the tally: whoever kept it is not the one to go on. */
  | { readonly kind: "outdated" }
  | { readonly kind: "lost" };

export interface Group {
  readonly members: readonly Member[];
  readonly holds: Holds | null;
  /** What is written with it: how far the order is. */
  readonly tally: readonly Op[];
  /** The record of the order, if it goes with this group, behind this head. */
  readonly record: { readonly known: KnownHead; readonly jobs: AuditedJobs } | null;
}

export async function sendGroup(ctx: QueueContext, order: BulkOrder, group: Group): Promise<GroupResult> {
  const { members, holds, tally, record } = group;
  const audit = record === null ? null : recordOps(ctx, order, members, record);
  const checks = distinctChecks(members);
  const ops = [
    ...(audit === null ? [] : [audit.head]),
    ...tally,
    ...checks,
    ...members.flatMap((member) => member.ops),
    ...(audit === null ? [] : [audit.record]),
  ];
  const shared = holds === null ? [] : holdsGuard(holds);
  const sent = await sendFenced(ctx, { rank: "operator", shared, ops }, () =>
    record === null ? hasMoved(ctx, members, tally) : inAudit(ctx, members[0]?.op ?? "", record.known.head.number),
  );
  switch (sent.kind) {
    case "applied":
      return sent;
    case "lost":
      return sent;
    case "not-applied":
      return { kind: "look-again" };
    case "refused": {
      const index = sent.fault.index - shared.length - (audit === null ? 0 : 1);
      if (index >= 0 && index < tally.length) return { kind: "outdated" };
      const id = blamed(index - tally.length - checks.length, members);
      return id === null
        ? { kind: "look-again" }
        : { kind: "out", id, why: `${sent.fault.code} ${sent.fault.detail}`.trim() };
    }
  }
}

/** The op id of the first member names the record: a lost answer is resolved by it. */
function recordOps(
  ctx: QueueContext,
  { order, who }: BulkOrder,
  members: readonly Member[],
  { known, jobs }: NonNullable<Group["record"]>,
) {
  const [first] = members;
  const many = jobs.count > 1;
  const [head, record] = auditOps(known.head, known.version, {
    op: first?.op ?? "",
    at: formatTimestamp(ctx.clock.nowMs()),
    ...whoIn(who),
    action: many ? `bulk.${order.action} ${jobs.count} jobs` : auditName(order),
    target: many ? (first?.op ?? "") : (first?.id ?? ""),
    reason: who.reason,
    ...(many ? { jobs } : {}),
  });
  return { head, record };
}

/**
 * A move is known by its op id in the job's history. A change of priority leaves none there: it is known by what was
 * written with it, which nobody else would write.
 */
async function hasMoved(ctx: QueueContext, members: readonly Member[], tally: readonly Op[]): Promise<Verdict> {
  const [first] = members;
  const [mark] = tally;
  if (first === undefined) return "not-applied";
  const reads = [paths.fleetJob(first.id), ...(mark === undefined ? [] : [mark.path])];
  const answers = await ctx.session.readMany(reads.map((get) => ({ get })));
  if (!answers.ok) return "ask-again";
  const [history, written] = answers.value.map(nodeOf);
  const job = readable(records.fleetJob, history);
  if (job !== null && hasOp(job, first.op)) return "applied";
  const wasWritten = mark?.op === "set" && written?.stat.version === mark.version + 1 && written.data.equals(mark.data);
  return wasWritten ? "applied" : "not-applied";
}

function distinctChecks(members: readonly Member[]): readonly Op[] {
  const checks = new Map<string, Op>();
  for (const op of members.flatMap((member) => member.checks)) {
    checks.set(`${op.path} ${op.op === "check" ? String(op.version) : ""}`, op);
  }
  return [...checks.values()];
}

/** The job whose op was refused, counted from the first member's first; null = it was nobody's own. */
function blamed(index: number, members: readonly Member[]): JobId | null {
  let first = 0;
  for (const { id, ops } of members) {
    if (index >= first && index < first + ops.length) return id;
    first += ops.length;
  }
  return null;
}
