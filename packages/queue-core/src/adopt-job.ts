/** Jobs that a library beside this fleet has made or moved: how their histories go on. */
import type { Op } from "@sluice/zookeeper";
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
  const path = paths.jobConfiguration(id);
  const answers = await ctx.session.readMany([{ get: path }, { get: paths.fleetEpoch }]);
  if (!answers.ok) return null;
  const [configuration, epochNode] = answers.value.map(nodeOf);
  const epoch = readable(records.fleetEpoch, epochNode)?.epoch;
  if (!configuration || epoch === undefined) return null;
  const data = withEpoch(configuration.data, epoch);
  // Whoever loads the job says what is wrong with it.
  return data === null ? [] : [setOp(path, data, configuration.stat.version)];
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
