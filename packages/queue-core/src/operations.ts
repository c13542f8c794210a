/**
 * One order for many jobs, kept in the tree so that it outlives whoever began it. Which jobs it is about is decided once,
 * at the beginning, and how far it is stands in the multi that moves the jobs: a job that fails again while it is under
 * way is not resumed a second time, not even by somebody who goes on after a crash.
 */
import type { Op, Session } from "@sluice/zookeeper";
import { auditedJobs } from "./audit.ts";
import type { QueueContext } from "./context.ts";
import { type JobId, jobId, jobNumber } from "./ids.ts";
import { createOp, deleteOp, setOp } from "./job-ops.ts";
import { nodeOf, readable } from "./nodes.ts";
import { act, type ActionResult, type Operator } from "./operator.ts";
import type { JobOrder } from "./operator-plans.ts";
import { paths } from "./paths.ts";
import { EMPTY, type OperationRecord, records } from "./records.ts";
import { formatTimestamp } from "./timestamp.ts";

/** Their numbers stand in one node, below ZooKeeper's limit of a megabyte. */
export const OPERATION_JOBS_MAX = 100_000;
const KEPT = 100;

export interface ReadOperation {
  readonly id: string;
  readonly record: OperationRecord;
  readonly version: number;
}

/** Numbers sort by time; the rest keeps two of the same moment apart. */
const newOperationId = (ctx: QueueContext): string =>
  `op${ctx.clock.nowMs().toString(36).padStart(9, "0")}${ctx
    .newId()
    .replaceAll(/[^A-Za-z0-9]/g, "")
    .slice(0, 6)}`;

export async function beginOperation(
  ctx: QueueContext,
  operator: Operator,
  order: JobOrder,
  jobs: readonly JobId[],
): Promise<{ readonly id: string; readonly result: ActionResult }> {
  const id = newOperationId(ctx);
  if (jobs.length > OPERATION_JOBS_MAX) {
    const why = `${jobs.length} jobs are more than one operation may have (${OPERATION_JOBS_MAX})`;
    return { id, result: { kind: "refused", why } };
  }
  const numbers = [...new Set(jobs.map(jobNumber))].sort((a, b) => a - b);
  const result = await act(ctx, operator, `bulk.${order.action} ${numbers.length} jobs`, id, (_op, who) => {
    const record: OperationRecord = {
      ...order,
      by: who.name,
      ...(who.caller === undefined ? {} : { caller: who.caller }),
      ...(operator.collections === undefined ? {} : { collections: [...operator.collections] }),
      reason: who.reason,
      state: "running",
      started: formatTimestamp(ctx.clock.nowMs()),
      total: numbers.length,
      next: 0,
      applied: 0,
      refused: [],
      runs: 0,
    };
    const ops = [
      createOp(paths.operation(id), records.operation.encode(record)),
      createOp(paths.operationJobs(id), records.jobNumbers.encode(numbers)),
      createOp(`${paths.dueOperations}/${id}`, EMPTY),
    ];
    return Promise.resolve({ kind: "go", ops, jobs: auditedJobs(jobs) });
  });
  return { id, result };
}

/** `none`: there is no such operation; null = no answer. */
export async function readOperation(session: Session, id: string): Promise<ReadOperation | "none" | null> {
  if (!/^op[A-Za-z0-9]{1,40}$/.test(id)) return "none";
  const node = await session.get(paths.operation(id));
  if (!node.ok) return node.code === "NO_NODE" ? "none" : null;
  const record = readable(records.operation, node.value);
  return record === null ? "none" : { id, record, version: node.value.stat.version };
}

export async function readOperationJobs(session: Session, id: string): Promise<readonly JobId[] | null> {
  const node = await session.get(paths.operationJobs(id));
  const numbers = node.ok ? readable(records.jobNumbers, node.value) : null;
  return numbers?.map(jobId) ?? null;
}

/** Newest first; null = no answer. */
export async function listOperations(session: Session, limit: number): Promise<readonly ReadOperation[] | null> {
  const names = await session.children(paths.operationRecords);
  if (!names.ok) return names.code === "NO_NODE" ? [] : null;
  const ids = [...names.value.names].sort().reverse().slice(0, limit);
  if (ids.length === 0) return [];
  const answers = await session.readMany(ids.map((id) => ({ get: paths.operation(id) })));
  if (!answers.ok) return null;
  return ids.flatMap((id, i) => {
    const node = nodeOf(answers.value[i]);
    const record = readable(records.operation, node);
    return node === null || record === null ? [] : [{ id, record, version: node.stat.version }];
  });
}

/** How far it is, as a part of the multi that brings it there. */
export const operationOp = ({ id, version }: Pick<ReadOperation, "id" | "version">, record: OperationRecord): Op =>
  setOp(paths.operation(id), records.operation.encode(record), version);

/** How far it is, against the version that was read: who was stopped, or overtaken, learns it here. */
export async function saveOperation(
  ctx: QueueContext,
  { id, version }: Pick<ReadOperation, "id" | "version">,
  record: OperationRecord,
): Promise<ReadOperation | "changed" | "lost"> {
  const answer = await ctx.committer.submit({ rank: "operator", ops: [operationOp({ id, version }, record)] });
  if (answer.ok) return { id, record, version: version + 1 };
  return answer.code === "BAD_VERSION" || answer.code === "NO_NODE" ? "changed" : "lost";
}

/** What is done stays done; whoever carries it on finds out before the next jobs. */
export async function stopOperation(ctx: QueueContext, operator: Operator, id: string): Promise<ActionResult> {
  return await act(ctx, operator, "bulk.stop", id, async () => {
    const found = await readOperation(ctx.session, id);
    if (found === null) return { kind: "lost" };
    if (found === "none") return { kind: "not-found" };
    if (found.record.state !== "running") return { kind: "refused", why: `it is ${found.record.state} already` };
    const ended = formatTimestamp(ctx.clock.nowMs());
    const record: OperationRecord = { ...found.record, state: "stopped", ended };
    return { kind: "go", ops: [operationOp(found, record)] };
  });
}

/** Takes away the oldest that are over; the audit keeps what they were. */
export async function forgetOperations(ctx: QueueContext, keep = KEPT): Promise<void> {
  const all = await listOperations(ctx.session, Number.MAX_SAFE_INTEGER);
  for (const { id, record, version } of (all ?? []).slice(keep)) {
    if (record.state === "running") continue;
    const ops = [deleteOp(paths.operationJobs(id)), deleteOp(paths.operation(id), version)];
    await ctx.committer.submit({ rank: "commit", ops });
  }
}
