/** Jobs that a library beside this fleet has made or moved: how their histories go on. */
import type { Node, Op } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { movedBeside, newFleetJob } from "./fleet-job.ts";
import type { JobId } from "./ids.ts";
import { setOp } from "./job-ops.ts";
import { nodeOf, readable } from "./nodes.ts";
import { paths } from "./paths.ts";
import { printEpoch } from "./places.ts";
import { type FleetJob, records } from "./records.ts";
import type { JobState } from "./states.ts";

interface Met {
  readonly op: string;
  readonly atMs: number;
  /** Who met it here. */
  readonly by: string;
}

const THEIRS = "CDL's library";

export const adopted = ({ state, ...met }: Met & { readonly state: JobState }): FleetJob =>
  newFleetJob({ ...met, kind: "adopt", state, detail: `made by ${THEIRS}` });

export const noted = (
  job: FleetJob,
  { from, to, ...met }: Met & { readonly from: JobState; readonly to: JobState },
): FleetJob => movedBeside(job, { ...met, kind: "beside", state: from, detail: `moved by ${THEIRS}`, to });

/**
 * A folder is named after number and epoch, because numbers come again after a restore: what the library made gets the
 * present one. null = no answer, or nothing that can be read.
 */
export async function adoptionOps(ctx: QueueContext, id: JobId): Promise<readonly Op[] | null> {
  const answers = await ctx.session.readMany([{ get: paths.jobConfiguration(id) }, { get: paths.fleetEpoch }]);
  if (!answers.ok) return null;
  const [configuration, epochNode] = answers.value.map(nodeOf);
  const epoch = readable(records.fleetEpoch, epochNode)?.epoch;
  return configuration && epoch !== undefined ? epochOps(id, configuration, epoch) : null;
}

/** Whoever loads the job says what is wrong with it. */
function epochOps(id: JobId, configuration: Node, epoch: number): readonly Op[] {
  const data = withEpoch(configuration.data, epoch);
  return data === null ? [] : [setOp(paths.jobConfiguration(id), data, configuration.stat.version)];
}

const JOBS_AT_A_TIME = 50;

export type JobsAdopted =
  { readonly kind: "adopted" } | { readonly kind: "waits"; readonly why: string } | { readonly kind: "lost" };

/** All of a batch, those that wait and those that are over too. One that a worker claims meanwhile has it from its claim. */
export async function adoptJobs(
  ctx: QueueContext,
  how: { readonly epoch: number; readonly by: string },
  jobs: readonly JobId[],
): Promise<JobsAdopted> {
  for (let i = 0; i < jobs.length; i += JOBS_AT_A_TIME) {
    const page = await adoptPage(ctx, how, jobs.slice(i, i + JOBS_AT_A_TIME));
    if (page.kind !== "adopted") return page;
  }
  return { kind: "adopted" };
}

async function adoptPage(
  ctx: QueueContext,
  { epoch, by }: { readonly epoch: number; readonly by: string },
  jobs: readonly JobId[],
): Promise<JobsAdopted> {
  const nodes = [paths.fleetJob, paths.jobStatus, paths.jobConfiguration];
  const answers = await ctx.session.readMany(jobs.flatMap((id) => nodes.map((path) => ({ get: path(id) }))));
  if (!answers.ok) return { kind: "lost" };
  const moves: Op[][] = [];
  for (const [i, id] of jobs.entries()) {
    const [history, status, configuration] = answers.value.slice(i * nodes.length, (i + 1) * nodes.length).map(nodeOf);
    if (history) continue;
    const state = readable(records.jobStatus, status)?.status;
    if (!status || !configuration || state === undefined)
      return { kind: "waits", why: `${id} was not made to its end` };
    const job = adopted({ op: ctx.newId(), atMs: ctx.clock.nowMs(), by, state });
    moves.push([
      { op: "check", path: paths.jobStatus(id), version: status.stat.version },
      { op: "create", path: paths.fleetJob(id), data: records.fleetJob.encode(job) },
      ...epochOps(id, configuration, epoch),
    ]);
  }
  const sent = await Promise.all(moves.map((ops) => ctx.committer.submit({ rank: "commit", ops })));
  if (sent.some((answer) => !answer.ok && answer.code === "SESSION_LOST")) return { kind: "lost" };
  return sent.every(({ ok }) => ok) ? { kind: "adopted" } : { kind: "waits", why: "its jobs are being worked" };
}

/** The same object with the epoch; null if there is nothing to add, or nothing to add it to. */
export function withEpoch(data: Buffer, epoch: number): Buffer | null {
  const printed = printEpoch(epoch);
  const object = parsed(data);
  return printed === undefined || object === null ? null : Buffer.from(JSON.stringify({ ...object, epoch: printed }));
}

function parsed(data: Buffer): object | null {
  try {
    const value: unknown = JSON.parse(data.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
