/**
 * Taking away what is over. Sweeps hold no lock: idempotent multis that check the status they rely on, about ten jobs
 * each (one by one took 18 minutes for 100,000 jobs; larger ones stall everybody else).
 */
import type { Op, Read, ReadAnswer } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { type BatchId, isOthersUuid, type JobId, parseJobId, parseJobUuid } from "./ids.ts";
import { deleteOp } from "./job-ops.ts";
import { keepKeyOps } from "./kept-keys.ts";
import { nodeOf } from "./nodes.ts";
import { deleteWithBatchOps } from "./operator-jobs.ts";
import { isOurBatch, NEVER_IMPORTED } from "./our-batch.ts";
import { paths, type QueueEntry } from "./paths.ts";
import { type BatchStatus, records } from "./records.ts";
import { type BatchState, type Bucket, BUCKETS, JOB_STATES, type JobState } from "./states.ts";
import { isFinal } from "./transitions.ts";

export const JOBS_PER_DELETE = 10;

/** Completed and Deleted jobs leave their queue; their data stays until the batch goes. True = the entry is gone. */
export async function sweepEntry(ctx: QueueContext, state: JobState, entry: QueueEntry): Promise<boolean> {
  const answers = await ctx.session.readMany([{ get: paths.jobStatus(entry.id) }, { get: paths.fleetJob(entry.id) }]);
  if (!answers.ok) return false;
  const [status, history] = answers.value.map(nodeOf);
  // A job without a history was never imported: its entry is not ours to take away.
  if (!status || !history) return false;
  const decoded = records.jobStatus.decode(status.data);
  if (!decoded.ok || decoded.value.status !== state || !isFinal(state)) return false;
  const answer = await ctx.committer.submit({
    rank: "commit",
    ops: [
      { op: "check", path: paths.jobStatus(entry.id), version: status.stat.version },
      deleteOp(paths.queueEntry(state, entry.priority, entry.id)),
    ],
  });
  return answer.ok || answer.code === "NO_NODE";
}

const OPEN_BUCKETS: readonly Bucket[] = ["batch-processing", "batch-failed"];

/** Takes the jobs of a Deleted batch to Deleted, running ones too. Answers how many are left (another run goes on). */
export async function deleteJobsOfBatch(ctx: QueueContext, id: BatchId, by: string): Promise<number> {
  if ((await batchStatus(ctx, id))?.status.status !== "Deleted") return 0;
  let left = 0;
  for (const bucket of OPEN_BUCKETS) {
    const jobs = await jobsIn(ctx, id, bucket);
    if (jobs === null) return left + 1;
    for (let i = 0; i < jobs.length; i += JOBS_PER_DELETE) {
      const gone = await Promise.all(jobs.slice(i, i + JOBS_PER_DELETE).map((job) => deleteJob(ctx, job, by)));
      left += gone.filter((each) => !each).length;
    }
  }
  return left;
}

async function deleteJob(ctx: QueueContext, job: JobId, by: string): Promise<boolean> {
  const move = await deleteWithBatchOps(ctx, job, by, ctx.newId());
  return move !== null && (await ctx.committer.submit({ rank: "commit", ops: move.ops })).ok;
}

export type CleanUpResult =
  | { readonly kind: "cleaned"; readonly jobs: number }
  | { readonly kind: "not-yet"; readonly why: string }
  | { readonly kind: "lost" };

export const DONE_WITH: readonly BatchState[] = ["Completed", "Deleted"];

/**
 * Removes a Completed or Deleted batch with all its jobs: jobs first, in chunks, each checking the batch's status; the
 * batch node last, with its key moving to /fleet/keys so that a late replay of the submission still finds its answer.
 */
export async function cleanUpBatch(ctx: QueueContext, id: BatchId): Promise<CleanUpResult> {
  const batch = await batchStatus(ctx, id);
  if (batch === null) return { kind: "not-yet", why: "no such batch" };
  if (!(await isOurs(ctx, id))) return { kind: "not-yet", why: NEVER_IMPORTED };
  if (!DONE_WITH.includes(batch.status.status)) return { kind: "not-yet", why: `it is ${batch.status.status}` };
  const guard: Op = { op: "check", path: paths.batchStatus(id), version: batch.version };
  let jobs = 0;
  for (const bucket of BUCKETS) {
    const ids = await jobsIn(ctx, id, bucket);
    if (ids === null) return { kind: "not-yet", why: "its jobs could not be listed" };
    for (let i = 0; i < ids.length; i += JOBS_PER_DELETE) {
      const chunk = ids.slice(i, i + JOBS_PER_DELETE);
      const ops = await Promise.all(chunk.map((job) => removeJobOps(ctx, id, bucket, job)));
      if (ops.some((op) => op === null)) return { kind: "not-yet", why: "a job is not over, or could not be read" };
      const answer = await ctx.committer.submit({ rank: "commit", ops: [guard, ...ops.flatMap((op) => op ?? [])] });
      if (!answer.ok) return answer.code === "SESSION_LOST" ? { kind: "lost" } : { kind: "not-yet", why: answer.code };
      jobs += chunk.length;
    }
  }
  return await removeBatch(ctx, id, batch, jobs);
}

/** No answer is no permission. */
async function isOurs(ctx: QueueContext, id: BatchId): Promise<boolean> {
  const answers = await ctx.session.readMany([
    { get: paths.expansion(id) },
    ...BUCKETS.map((bucket) => ({ get: paths.bucket(id, bucket) })),
  ]);
  if (!answers.ok) return false;
  const [expansion, ...buckets] = answers.value.map(nodeOf);
  const jobs = buckets.reduce((sum, bucket) => sum + (bucket?.stat.numChildren ?? 0), 0);
  return isOurBatch({ isExpanded: !!expansion, isListed: true, jobs });
}

/** null = no answer. */
async function jobsIn(ctx: QueueContext, id: BatchId, bucket: Bucket): Promise<readonly JobId[] | null> {
  const names = await ctx.session.children(paths.bucket(id, bucket));
  if (!names.ok) return names.code === "NO_NODE" ? [] : null;
  return [...names.value.names].sort().flatMap((name) => parseJobId(name) ?? []);
}

async function batchStatus(
  ctx: QueueContext,
  id: BatchId,
): Promise<{ readonly status: BatchStatus; readonly version: number } | null> {
  const node = await ctx.session.get(paths.batchStatus(id));
  const decoded = node.ok ? records.batchStatus.decode(node.value.data) : null;
  if (!node.ok || decoded?.ok !== true) return null;
  return { status: decoded.value, version: node.value.stat.version };
}

/** All nodes of one ended job, others' nodes too (children are listed, not assumed); null = it is not over. */
async function removeJobOps(
  ctx: QueueContext,
  batch: BatchId,
  bucket: Bucket,
  id: JobId,
): Promise<readonly Op[] | null> {
  const children = await ctx.session.children(paths.job(id));
  if (!children.ok) {
    return children.code === "NO_NODE" ? [deleteOp(paths.bucketEntry(batch, bucket, id))] : null;
  }
  const names = children.value.names.map((name) => `${paths.job(id)}/${name}`);
  const priority = await ctx.session.get(paths.jobPriority(id));
  if (!priority.ok && priority.code !== "NO_NODE") return null;
  const decoded = priority.ok ? records.priority.decode(priority.value.data) : null;
  const entries = decoded?.ok === true ? JOB_STATES.map((state) => paths.queueEntry(state, decoded.value, id)) : [];
  const reads: readonly string[] = [...names, ...entries, paths.fleetJob(id), paths.callbackBody(id)];
  const answers = await ctx.session.readMany(reads.map((path): Read => ({ get: path })));
  if (!answers.ok) return null;
  const ops: Op[] = [deleteOp(paths.bucketEntry(batch, bucket, id))];
  for (const [i, path] of reads.entries()) {
    const answer = answers.value[i];
    if (answer?.kind !== "node") continue;
    if (path === paths.jobStatus(id)) {
      const status = records.jobStatus.decode(answer.node.data);
      if (!status.ok || !isFinal(status.value.status)) return null;
    }
    ops.push(deleteOp(path, answer.node.stat.version));
  }
  ops.push(deleteOp(paths.job(id)));
  const named = await importedNameOps(ctx, id, answers.value[names.indexOf(paths.jobConfiguration(id))]);
  return named === null ? null : [...ops, ...named];
}

/** The entry by which an imported job is found under its old name; null = no answer. */
async function importedNameOps(
  { session }: QueueContext,
  id: JobId,
  configuration: ReadAnswer | undefined,
): Promise<readonly Op[] | null> {
  const read = configuration?.kind === "node" ? records.jobConfiguration.decode(configuration.node.data) : null;
  const uuid = parseJobUuid((read?.ok === true ? read.value.jobID : undefined) ?? "");
  if (uuid === null || !isOthersUuid(uuid)) return [];
  const node = await session.get(paths.importedJob(uuid));
  if (!node.ok) return node.code === "NO_NODE" ? [] : null;
  const named = records.jid.decode(node.value.data);
  return named.ok && named.value === id ? [deleteOp(paths.importedJob(uuid), node.value.stat.version)] : [];
}

async function removeBatch(
  ctx: QueueContext,
  id: BatchId,
  batch: { readonly status: BatchStatus; readonly version: number },
  jobs: number,
): Promise<CleanUpResult> {
  const submission = await ctx.session.get(paths.batchSubmission(id));
  // Without it its key would stay where it is for ever, and name a batch that is gone.
  if (!submission.ok && submission.code !== "NO_NODE") return { kind: "not-yet", why: submission.code };
  const decoded = submission.ok ? records.submission.decode(submission.value.data) : null;
  const uuid = decoded?.ok === true ? decoded.value.batchID : undefined;
  const fixed: readonly string[] = [
    paths.batchSubmission(id),
    paths.batchReport(id),
    paths.batchLock(id),
    ...BUCKETS.map((bucket) => paths.bucket(id, bucket)),
    paths.batchStates(id),
    paths.expansion(id),
    paths.fleetBatch(batch.status.status, id),
    paths.dueBatch(id),
    paths.queuedMail(id),
    ...(uuid === undefined ? [] : [`${paths.batchUuids}/${uuid}`]),
  ];
  const reports = await reportPaths(ctx, id);
  if (reports === null) return { kind: "not-yet", why: "its reports could not be listed" };
  const answers = await ctx.session.readMany([...reports, ...fixed].map((path): Read => ({ get: path })));
  if (!answers.ok) return { kind: "lost" };
  const deletes = [...reports, ...fixed].flatMap((path, i) => {
    const node = answers.value[i];
    return node?.kind === "node" ? [deleteOp(path, node.node.stat.version)] : [];
  });
  const digest = decoded?.ok === true ? (decoded.value.request_digest ?? "") : "";
  const keep = uuid === undefined ? [] : await keepKeyOps(ctx, uuid, { batch: id, request_digest: digest });
  if (keep === null) return { kind: "lost" };
  const answer = await ctx.committer.submit({
    rank: "commit",
    ops: [deleteOp(paths.batchStatus(id), batch.version), ...deletes, deleteOp(paths.batch(id)), ...keep],
  });
  if (answer.ok) return { kind: "cleaned", jobs };
  return answer.code === "SESSION_LOST"
    ? { kind: "lost" }
    : { kind: "not-yet", why: `${answer.code} ${answer.detail}` };
}

/** Chunks of long reports, deepest first; null = no answer. */
async function reportPaths(ctx: QueueContext, id: BatchId): Promise<readonly string[] | null> {
  const root = paths.batchReports(id);
  const numbers = await ctx.session.children(root);
  if (!numbers.ok) return numbers.code === "NO_NODE" ? [] : null;
  const out: string[] = [];
  for (const number of numbers.value.names) {
    const chunks = await ctx.session.children(`${root}/${number}`);
    if (!chunks.ok && chunks.code !== "NO_NODE") return null;
    if (chunks.ok) for (const chunk of chunks.value.names) out.push(`${root}/${number}/${chunk}`);
    out.push(`${root}/${number}`);
  }
  return [...out, root];
}
