import { z } from "zod";
import { batchState, HoldView, jobState, stage, time } from "./common.ts";

export const StageView = z.object({
  stage,
  /** The state it takes jobs from; null for the reporter, which works batches. */
  state: jobState.nullable(),
  waiting: z.number().int().describe("everything in its queues"),
  ready: z.number().int().describe("what a worker could take now"),
  exact: z.boolean().describe("false: ready was reckoned from a sample"),
  oldest_ready_seconds: z.number(),
  workers: z.number().int(),
  in_hand: z.number().int().describe("jobs that its workers have in hand"),
  paused: HoldView.nullable(),
});
export type StageView = z.infer<typeof StageView>;

export const SpaceView = z.object({
  volume_bytes: z.number(),
  free_bytes: z.number(),
  reserved_bytes: z.number().describe("what admitted jobs need"),
  admit_below: z.number().describe("share of the volume up to which jobs are admitted"),
});

export const FailureGroup = z.object({
  code: z.string(),
  count: z.number().int(),
  says: z.string().describe("what the code means"),
  remedy: z.string(),
  example: z.object({ id: z.string(), message: z.string(), at: time.nullable() }),
});

export const Overview = z.object({
  at: time,
  fleet_id: z.string(),
  jobs: z.record(jobState, z.number().int()),
  batches: z.record(batchState, z.number().int()),
  stages: z.array(StageView),
  queue_paused: HoldView.nullable(),
  held_collections: z.array(HoldView.extend({ collection: z.string() })),
  space: SpaceView.nullable(),
  failures: z.array(FailureGroup).describe("recent failures by reason"),
  completed_per_minute: z.number().describe("over the last five minutes"),
  failed_per_minute: z.number(),
});
export type Overview = z.infer<typeof Overview>;

/** One look at the fleet, as kept for the charts. */
export const HistorySample = z.object({
  at: time,
  jobs: z.record(jobState, z.number().int()),
  completed: z.number().describe("jobs completed since the sample before"),
  failed: z.number(),
  oldest_ready_seconds: z.number(),
});
export type HistorySample = z.infer<typeof HistorySample>;

export const WorkerView = z.object({
  id: z.string(),
  stage: z.string(),
  host: z.string(),
  pid: z.number().int(),
  version: z.string(),
  since: time.nullable(),
  jobs: z.array(z.string()),
  concurrency: z.number().int(),
  cpu_seconds: z.number(),
  memory_bytes: z.number(),
  draining: HoldView.nullable(),
});
export type WorkerView = z.infer<typeof WorkerView>;

export const CollectionView = z.object({
  name: z.string(),
  description: z.string(),
  hold: HoldView.nullable(),
  jobs: z.record(jobState, z.number().int()),
  space_needed_bytes: z.number(),
});
export type CollectionView = z.infer<typeof CollectionView>;
