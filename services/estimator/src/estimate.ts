import type { Job, JobChanges } from "@sluice/queue-core";
import { done, type JobContext, type JobStage, type Outcome } from "@sluice/stage-runtime";
import { eachAtMost, type FetchItem, type FileToFetch, isContainer, type WalkAnswer } from "@sluice/working-folder";

export interface EstimatorParts {
  /** What the job is to fetch. */
  readonly files: (job: Job) => AsyncIterable<FetchItem>;
  /** Asks whoever has the file how large it is; undefined: nobody says. Never rejects. */
  readonly sizeOf: (job: Job, file: FileToFetch, signal: AbortSignal) => Promise<number | undefined>;
  /** How long one job may take: sizes still unknown then stay unknown. */
  readonly budget: () => AbortSignal;
  /** Files of one job asked for at once. */
  readonly filesAtOnce: number;
  readonly largeJobBytes: number;
  /** What a container needs, as a multiple of its size: it stands beside its content until that is whole. */
  readonly containerFactor: number;
}

/** What is known about a job's size. */
export interface Tally {
  readonly files: number;
  readonly bytes: number;
  readonly unknown: number;
}

const UNKNOWN_DELTA = 10;
const LARGE_DELTA = 5;

export function estimatingStage(parts: EstimatorParts): JobStage {
  return { kind: "job-stage", takes: "Estimating", handle: (job, ctx) => estimate(job, ctx, parts) };
}

/** An estimate is a courtesy to the stages that follow: nothing that goes wrong here fails the job. */
async function estimate(job: Job, ctx: JobContext, parts: EstimatorParts): Promise<Outcome> {
  const tally = await measure(job, ctx, parts);
  ctx.signal.throwIfAborted();
  await ctx.failpoint("midEffect");
  ctx.log.info(tally, "estimated");
  return done(changesOf(tally, parts.largeJobBytes));
}

async function measure(job: Job, ctx: JobContext, parts: EstimatorParts): Promise<Tally> {
  const tally = { files: 0, bytes: 0, unknown: 0 };
  const factor = isContainer(job.configuration) ? parts.containerFactor : 1;
  const add = (size: number | undefined): void => {
    tally.files += 1;
    tally.bytes += (size ?? 0) * factor;
    if (size === undefined) tally.unknown += 1;
    ctx.progress({ doneBytes: tally.bytes, totalBytes: null, note: `${tally.files} files asked for` });
  };
  const ask = async (item: FetchItem, signal: AbortSignal): Promise<WalkAnswer> => {
    if (ctx.signal.aborted) return "stop";
    if (!item.ok) ctx.log.warn({ problem: item.problem }, "the payload cannot be read, its size stays unknown");
    add(item.ok ? ((await parts.sizeOf(job, item.file, signal)) ?? item.file.size) : undefined);
    return "go-on";
  };
  try {
    await eachAtMost(parts.files(job), parts.filesAtOnce, ask, [ctx.signal, parts.budget()]);
  } catch (error) {
    ctx.log.warn({ err: error }, "the payload cannot be read, its size stays unknown");
    add(undefined);
  }
  return tally;
}

/**
 * 0 means that the size is not known, also where it is known of some files only: a sum without the others would promise too
 * little room, and cut them off. A job that is known to be empty therefore needs 1 byte.
 */
export function changesOf({ files, bytes, unknown }: Tally, largeJobBytes: number): JobChanges {
  const spaceNeeded = unknown === 0 ? Math.max(1, bytes) : 0;
  const priorityDelta = (unknown > 0 ? UNKNOWN_DELTA : 0) + (bytes > largeJobBytes ? LARGE_DELTA : 0);
  const message = unknown === 0 ? {} : { message: `size unknown: ${unknown} of ${files} files, ${bytes} bytes known` };
  return { spaceNeeded, ...(priorityDelta === 0 ? {} : { priorityDelta }), ...message };
}
