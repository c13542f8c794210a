/** Jobs of a program beside this fleet: which of them are a batch's, and what it did to them that nobody here was told of. */
import type { Node, Op, Session } from "@sluice/zookeeper";
import { noted } from "./adopt-job.ts";
import { type Beside, judgeWrite, overwritten } from "./beside.ts";
import type { QueueContext } from "./context.ts";
import { type BatchId, type JobId, jobNumber, parseJobId } from "./ids.ts";
import { callbackOp, setOp } from "./job-ops.ts";
import { nodeOf, readable } from "./nodes.ts";
import { OURS_FROM } from "./numbers-apart.ts";
import { parseQueueEntry, paths } from "./paths.ts";
import { putInPlace, unlockedOps } from "./put-in-place.ts";
import { markDueIfLast } from "./report-gate.ts";
import { type CallbackRecord, type JobStatus, records } from "./records.ts";
import { formatTimestamp } from "./timestamp.ts";

const PER_READ = 200;

/** Every job of the program, by its batch: its numbers lie between ours of before and ours of now. null = no answer. */
export async function jobsMadeBeside(
  session: Session,
  { record }: Beside,
): Promise<ReadonlyMap<BatchId, readonly JobId[]> | null> {
  const listed = await session.children(paths.jobs);
  if (!listed.ok) return null;
  const ids = listed.value.names.flatMap((name) => parseJobId(name) ?? []).filter((id) => isTheirs(id, record.numbers));
  const byBatch = new Map<BatchId, JobId[]>();
  for (let i = 0; i < ids.length; i += PER_READ) {
    const page = ids.slice(i, i + PER_READ);
    const answers = await session.readMany(page.map((id) => ({ get: paths.jobBid(id) })));
    if (!answers.ok) return null;
    for (const [k, id] of page.entries()) {
      const batch = readable(records.bid, nodeOf(answers.value[k]));
      if (batch !== null) byBatch.set(batch, [...(byBatch.get(batch) ?? []), id]);
    }
  }
  return byBatch;
}

const isTheirs = (id: JobId, numbers: { readonly job: number }): boolean =>
  jobNumber(id) > numbers.job && jobNumber(id) < OURS_FROM;

export interface NotedFailure {
  readonly id: JobId;
  /** overwritten: no failure of its stage, but of one who had lost the job. It is left as it is. */
  readonly kind: "noted" | "overwritten";
  readonly message: string;
}

/**
 * Jobs that the program has failed: their histories say so from now on, and their depositors are told, as of failures of our
 * own. What a history says is not noted again. null = no answer.
 */
export async function noteFailures(
  ctx: QueueContext,
  beside: Beside,
  by: string,
): Promise<readonly NotedFailure[] | null> {
  const listed = await ctx.session.children(paths.queue("Failed"));
  if (!listed.ok) return null;
  const ids = listed.value.names.flatMap((name) => parseQueueEntry(name)?.id ?? []);
  const found: NotedFailure[] = [];
  for (let i = 0; i < ids.length; i += PER_READ) {
    const page = ids.slice(i, i + PER_READ);
    const answers = await ctx.session.readMany(page.flatMap((id) => READ.map((path) => ({ get: path(id) }))));
    if (!answers.ok) return null;
    for (const [k, id] of page.entries()) {
      const nodes = answers.value.slice(k * READ.length, (k + 1) * READ.length).map(nodeOf);
      const failure = await noteFailure(ctx, beside, by, id, nodes);
      if (failure !== null) found.push(failure);
    }
  }
  return found;
}

const READ = [paths.jobStatus, paths.fleetJob, paths.jobBid, paths.jobLock];

async function noteFailure(
  ctx: QueueContext,
  beside: Beside,
  by: string,
  id: JobId,
  [statusNode, historyNode, bidNode, lock]: readonly (Node | null)[],
): Promise<NotedFailure | null> {
  const [status, history] = [readable(records.jobStatus, statusNode), readable(records.fleetJob, historyNode)];
  const batch = readable(records.bid, bidNode);
  // What is locked is perhaps still on its way to where it is.
  if (!statusNode || !historyNode || lock || !status || !history || batch === null) return null;
  const state = { state: status.status, stat: statusNode.stat };
  const write = judgeWrite(beside, state, { job: history, stat: historyNode.stat });
  if (write.kind === "none") return null;
  if (write.kind === "overwritten") return { id, kind: write.kind, message: overwritten(write.from, status.status) };
  const nowMs = ctx.clock.nowMs();
  const event = { op: ctx.newId(), atMs: nowMs, by, from: write.from, to: status.status };
  const record = records.fleetJob.encode(noted(history, event));
  const ops: readonly Op[] = [
    { op: "check", path: paths.jobStatus(id), version: statusNode.stat.version },
    ...unlockedOps(id),
    setOp(paths.fleetJob(id), record, historyNode.stat.version),
  ];
  const applied = await withCallback(ctx, ops, callbackOp(id, failedCallback(id, batch, status, nowMs)));
  if (!applied) return null;
  await putInPlace(ctx, id, beside);
  await markDueIfLast(ctx, batch);
  return { id, kind: "noted", message: status.message };
}

/** One about the same failure may be there: it was told of, and is not told of twice. */
async function withCallback(ctx: QueueContext, ops: readonly Op[], callback: Op): Promise<boolean> {
  const answer = await ctx.committer.submit({ rank: "commit", ops: [...ops, callback] });
  if (answer.ok || answer.code !== "NODE_EXISTS" || answer.index !== ops.length) return answer.ok;
  return (await ctx.committer.submit({ rank: "commit", ops })).ok;
}

const failedCallback = (job: JobId, batch: BatchId, status: JobStatus, nowMs: number): CallbackRecord => ({
  job,
  batch,
  outcome: "FAILED",
  retry: status.retry_count,
  message: status.message,
  at: formatTimestamp(nowMs),
});
