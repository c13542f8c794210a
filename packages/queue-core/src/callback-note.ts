/** What became of the callback about a failed job: noted in its short history, as long as it stands at that failure. */
import type { Op, Session } from "@sluice/zookeeper";
import { calledBack } from "./fleet-job.ts";
import type { JobId } from "./ids.ts";
import { setOp } from "./job-ops.ts";
import { nodeOf, readable } from "./nodes.ts";
import { paths } from "./paths.ts";
import { type CallbackRecord, type FleetJob, records } from "./records.ts";

export interface CallbackEnd {
  readonly atMs: number;
  /** "" = it was taken. */
  readonly notDelivered: string;
}

/** Nothing, if the job has been resumed or is gone: then nobody asks any more. */
export async function callbackNoteOps(
  session: Session,
  id: JobId,
  { retry }: Pick<CallbackRecord, "retry">,
  { atMs, notDelivered }: CallbackEnd,
): Promise<readonly Op[]> {
  const answers = await session.readMany([{ get: paths.jobStatus(id) }, { get: paths.fleetJob(id) }]);
  if (!answers.ok) return [];
  const [statusNode, fleetNode] = answers.value.map(nodeOf);
  const status = readable(records.jobStatus, statusNode);
  const fleetJob = readable(records.fleetJob, fleetNode);
  if (status?.status !== "Failed" || status.retry_count !== retry || fleetJob === null || !fleetNode) return [];
  const noted = records.fleetJob.encode(calledBack(fleetJob, atMs, notDelivered));
  return [setOp(paths.fleetJob(id), noted, fleetNode.stat.version)];
}

export interface CalledBack {
  readonly atMs: number;
  readonly delivered: boolean;
  readonly detail: string | null;
}

/** null: there is no word about it yet, or only one that a newer version understands. */
export function calledBackOf({ called }: Pick<FleetJob, "called">): CalledBack | null {
  if (called === undefined) return null;
  const [at, outcome, detail] = called;
  if (outcome !== "delivered" && outcome !== "not-delivered") return null;
  return { atMs: at * 1_000, delivered: outcome === "delivered", detail: detail ?? null };
}
