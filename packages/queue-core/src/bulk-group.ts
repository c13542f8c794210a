/**
 * One order for several jobs in one multi. The audit's head is one node that every action compares and sets, so actions
 * one by one cannot be faster than one round trip each. A group sets the head once and chains one record per job; each
 * job keeps all its fences, and a refusal names the job, which is taken out and answered for itself.
 */
import type { Op } from "@sluice/zookeeper";
import { type AuditEntry, auditHash, nextAuditRecord } from "./audit.ts";
import type { QueueContext } from "./context.ts";
import { type Holds, holdsGuard } from "./holds.ts";
import type { BatchId, JobId } from "./ids.ts";
import { createOp, setOp } from "./job-ops.ts";
import { inAudit, mayTouch, type NotApplied, type Operator, whoIn } from "./operator.ts";
import type { Looked } from "./operator-look.ts";
import { auditName, type JobOrder, type OrderedBy, planOrder } from "./operator-plans.ts";
import { paths } from "./paths.ts";
import { type AuditHead, records } from "./records.ts";
import { sendFenced } from "./send.ts";
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
  | { readonly kind: "applied"; readonly head: KnownHead }
  /** What all of them rely on has changed (the audit's head, a hold, a batch): look again. */
  | { readonly kind: "look-again" }
  /** This one has changed since it was read, or is broken; the others have not been tried. */
  | { readonly kind: "out"; readonly id: JobId; readonly why: string }
  /** Somebody else has written the tally: whoever kept it is not the one to go on. */
  | { readonly kind: "outdated" }
  | { readonly kind: "lost" };

export async function sendGroup(
  ctx: QueueContext,
  { order, who }: BulkOrder,
  members: readonly Member[],
  holds: Holds | null,
  known: KnownHead,
  tally: readonly Op[],
): Promise<GroupResult> {
  const at = formatTimestamp(ctx.clock.nowMs());
  let { head } = known;
  const audit: Op[] = [];
  for (const { id, op } of members) {
    const entry: AuditEntry = { op, at, ...whoIn(who), action: auditName(order), target: id, reason: who.reason };
    const record = nextAuditRecord(head, entry);
    const data = records.auditRecord.encode(record);
    audit.push(createOp(paths.auditRecord(record.number), data));
    head = { number: record.number, hash: auditHash(data) };
  }
  const checks = distinctChecks(members);
  const ops = [
    setOp(paths.auditHead, records.auditHead.encode(head), known.version),
    ...tally,
    ...checks,
    ...members.flatMap((member) => member.ops),
    ...audit,
  ];
  const shared = holds === null ? [] : holdsGuard(holds);
  const sent = await sendFenced(ctx, { rank: "operator", shared, ops }, () =>
    inAudit(ctx, members[0]?.op ?? "", known.head.number),
  );
  switch (sent.kind) {
    case "applied":
      return { kind: "applied", head: { head, version: known.version + 1 } };
    case "lost":
      return sent;
    case "not-applied":
      return { kind: "look-again" };
    case "refused": {
      const index = sent.fault.index - shared.length - 1;
      if (index >= 0 && index < tally.length) return { kind: "outdated" };
      const id = blamed(index - tally.length - checks.length, members);
      return id === null
        ? { kind: "look-again" }
        : { kind: "out", id, why: `${sent.fault.code} ${sent.fault.detail}`.trim() };
    }
  }
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
