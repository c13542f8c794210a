/** Everything an operator's move of a job depends on: many jobs in two multiReads. */
import type { Node, Session } from "@sluice/zookeeper";
import type { BatchId, JobId } from "./ids.ts";
import { nodeOf, readable } from "./nodes.ts";
import { NEVER_IMPORTED } from "./our-batch.ts";
import { clampPriority, paths } from "./paths.ts";
import { type BatchStatus, type FleetJob, type JobConfiguration, type JobStatus, records } from "./records.ts";

export interface JobLook {
  readonly id: JobId;
  readonly batch: BatchId;
  readonly status: JobStatus;
  readonly statusVersion: number;
  readonly fleetJob: FleetJob;
  readonly fleetJobVersion: number;
  readonly priority: number;
  readonly priorityVersion: number;
  readonly configuration: JobConfiguration;
  readonly lockVersion: number | null;
  readonly callbackBodyVersion: number | null;
  readonly batchStatus: BatchStatus;
  readonly batchStatusVersion: number;
}

export type Looked =
  | { readonly kind: "found"; readonly look: JobLook }
  | { readonly kind: "not-found" }
  | { readonly kind: "refused"; readonly why: string };

const nodesOf = (id: JobId): readonly string[] => [
  paths.jobBid(id),
  paths.jobStatus(id),
  paths.fleetJob(id),
  paths.jobPriority(id),
  paths.jobConfiguration(id),
  paths.jobLock(id),
  paths.callbackBody(id),
];

/** In the order asked; null = no answer from ZooKeeper. */
export async function lookAtJobs(session: Session, ids: readonly JobId[]): Promise<readonly Looked[] | null> {
  if (ids.length === 0) return [];
  const wanted = ids.flatMap(nodesOf);
  const answers = await session.readMany(wanted.map((get) => ({ get })));
  if (!answers.ok) return null;
  const width = wanted.length / ids.length;
  const jobs = ids.map((id, i) => jobOf(id, answers.value.slice(i * width, (i + 1) * width).map(nodeOf)));
  const batches = [...new Set(jobs.flatMap((job) => (job.kind === "job" ? [job.job.batch] : [])))];
  if (batches.length === 0) return jobs.flatMap((job) => (job.kind === "job" ? [] : [job]));
  const statuses = await session.readMany(batches.map((batch) => ({ get: paths.batchStatus(batch) })));
  if (!statuses.ok) return null;
  return jobs.map((job): Looked => {
    if (job.kind !== "job") return job;
    const node = nodeOf(statuses.value[batches.indexOf(job.job.batch)]);
    const batchStatus = readable(records.batchStatus, node);
    if (node === null || batchStatus === null) return { kind: "refused", why: `the batch of ${job.job.id} is gone` };
    return { kind: "found", look: { ...job.job, batchStatus, batchStatusVersion: node.stat.version } };
  });
}

type JobAlone = Omit<JobLook, "batchStatus" | "batchStatusVersion">;

function jobOf(
  id: JobId,
  nodes: readonly (Node | null)[],
): { readonly kind: "job"; readonly job: JobAlone } | Exclude<Looked, { kind: "found" }> {
  const [bidNode, statusNode, fleetNode, priorityNode, configurationNode, lockNode, bodyNode] = nodes;
  if (!bidNode || !statusNode) return { kind: "not-found" };
  if (!fleetNode) return { kind: "refused", why: `${id} ${NEVER_IMPORTED}` };
  const batch = readable(records.bid, bidNode);
  const status = readable(records.jobStatus, statusNode);
  const fleetJob = readable(records.fleetJob, fleetNode);
  const priority = readable(records.priority, priorityNode);
  const configuration = readable(records.jobConfiguration, configurationNode);
  if (!batch || !status || !fleetJob || priority === null || !configuration) {
    return { kind: "refused", why: `the nodes of ${id} are broken: run fsck` };
  }
  const job: JobAlone = {
    id,
    batch,
    status,
    statusVersion: statusNode.stat.version,
    fleetJob,
    fleetJobVersion: fleetNode.stat.version,
    priority: clampPriority(priority),
    priorityVersion: priorityNode?.stat.version ?? 0,
    configuration,
    lockVersion: lockNode?.stat.version ?? null,
    callbackBodyVersion: bodyNode?.stat.version ?? null,
  };
  return { kind: "job", job };
}
