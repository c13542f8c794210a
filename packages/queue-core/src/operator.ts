/**
 * What operators do to jobs, batches and holds: each action one multi that carries its audit record. Operators hold no
 * lock; the versions they read are their fence, and who loses a race is told so.
 */
import type { Op } from "@sluice/zookeeper";
import { type AuditEntry, auditOps } from "./audit.ts";
import type { QueueContext } from "./context.ts";
import { cutBytes } from "./cut-bytes.ts";
import { paths } from "./paths.ts";
import { type AuditedJobs, records } from "./records.ts";
import { sendFenced } from "./send.ts";
import { formatTimestamp } from "./timestamp.ts";
import { lastAudited, type LastChange } from "./who-won.ts";

export interface Operator {
  readonly name: string;
  /** The caller's id: names can be given twice, ids cannot. Absent = no API authenticated them. */
  readonly caller?: string;
  readonly reason: string;
  /** Bound to these: what belongs to others is not there for them. Absent = all. */
  readonly collections?: readonly string[];
}

export const mayTouch = ({ collections }: Operator, collection: string): boolean =>
  collections?.includes(collection) !== false;

export type ActionResult =
  | { readonly kind: "applied" }
  /** The table, a hold or the state of the batch does not allow it; `why` is for people. */
  | { readonly kind: "refused"; readonly why: string; readonly last?: LastChange | undefined }
  /** Somebody changed the same thing meanwhile. */
  | { readonly kind: "conflict"; readonly why: string; readonly last?: LastChange | undefined }
  | { readonly kind: "not-found" }
  | { readonly kind: "lost" };

/** `last`, where it is known, is who changed the thing last: to one who lost a race, the winner. */
export type NotApplied = Exclude<ActionResult, { kind: "applied" }>;

/** What an action wants to do, from a fresh look at the tree. */
export type ActionPlan =
  | {
      readonly kind: "go";
      readonly ops: readonly Op[];
      readonly shared?: readonly Op[];
      /** Of an order for many. */
      readonly jobs?: AuditedJobs;
    }
  | NotApplied;

export const TRIES_MAX = 20;
/** They go into status, history and audit: a reason is a sentence, not a document. */
const NAME_BYTES = 200;
const CALLER_BYTES = 300;
const REASON_BYTES = 1_000;

export const cutOperator = (operator: Operator): Operator => ({
  ...operator,
  name: cutBytes(operator.name, NAME_BYTES),
  ...(operator.caller === undefined ? {} : { caller: cutBytes(operator.caller, CALLER_BYTES) }),
  reason: cutBytes(operator.reason, REASON_BYTES),
});

/** Who acted, as the audit keeps it. */
export const whoIn = ({ name, caller }: Operator): Pick<AuditEntry, "actor" | "caller"> => ({
  actor: name,
  ...(caller === undefined ? {} : { caller }),
});

/**
 * Looks, plans and sends. A refusal at the audit's head only means that another action came between: try again. A
 * refusal elsewhere means that what was looked at has changed: one more look decides.
 */
export async function act(
  ctx: QueueContext,
  operator: Operator,
  action: string,
  target: string,
  look: (op: string, who: Operator) => Promise<ActionPlan>,
): Promise<ActionResult> {
  const op = ctx.newId();
  const who = cutOperator(operator);
  let lastRefusal = "";
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const plan = await look(op, who);
    if (plan.kind !== "go") return await withLastChange(ctx, target, plan);
    const head = await ctx.session.get(paths.auditHead);
    if (!head.ok) return { kind: "lost" };
    const decoded = records.auditHead.decode(head.value.data);
    if (!decoded.ok) return { kind: "refused", why: decoded.problem };
    const at = formatTimestamp(ctx.clock.nowMs());
    const jobs = plan.jobs === undefined ? {} : { jobs: plan.jobs };
    const entry: AuditEntry = { op, at, ...whoIn(who), action, target, reason: who.reason, ...jobs };
    const ops = [...plan.ops, ...auditOps(decoded.value, head.value.stat.version, entry)];
    const sent = await sendFenced(ctx, { rank: "operator", shared: plan.shared ?? [], ops }, () =>
      inAudit(ctx, op, decoded.value.number),
    );
    if (sent.kind === "applied") return { kind: "applied" };
    if (sent.kind === "lost") return sent;
    lastRefusal = sent.kind === "refused" ? `${sent.fault.code} ${sent.fault.detail}` : "";
  }
  return await withLastChange(ctx, target, { kind: "conflict", why: `it kept changing: ${lastRefusal}` });
}

async function withLastChange(ctx: QueueContext, target: string, result: NotApplied): Promise<NotApplied> {
  if ((result.kind !== "refused" && result.kind !== "conflict") || result.last !== undefined) return result;
  const last = await lastAudited(ctx.session, target);
  return last === undefined ? result : { ...result, last };
}

/** Our op is in one of the records made since we looked, or it was not applied and may be planned anew. */
export async function inAudit(
  ctx: QueueContext,
  op: string,
  since: number,
): Promise<"applied" | "not-applied" | "ask-again"> {
  const node = await ctx.session.get(paths.auditHead);
  const head = node.ok ? records.auditHead.decode(node.value.data) : null;
  if (head?.ok !== true) return "ask-again";
  const numbers = Array.from({ length: head.value.number - since }, (_, i) => since + 1 + i);
  if (numbers.length === 0) return "not-applied";
  const answers = await ctx.session.readMany(numbers.map((number) => ({ get: paths.auditRecord(number) })));
  if (!answers.ok) return "ask-again";
  const mine = answers.value.some((answer) => {
    const record = answer.kind === "node" ? records.auditRecord.decode(answer.node.data) : null;
    return record?.ok === true && record.value.op === op;
  });
  return mine ? "applied" : "not-applied";
}
