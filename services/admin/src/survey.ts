import type { BatchState, Chore, Holds, JobState, Stage } from "@sluice/queue-core";

/** The fleet at a glance. */
export interface FleetSurvey {
  readonly fleetId: string;
  readonly atMs: number;
  readonly jobs: Readonly<Record<JobState, number>>;
  readonly batches: Readonly<Record<BatchState, number>>;
  /** How long the oldest batch of each open state has been in it; 0 when there is none. */
  readonly batchAgesMs: readonly (readonly [BatchState, number])[];
  readonly stages: readonly StageSurvey[];
  /** When what keeps the fleet's house was last done, in ms; of what never was: since when it is expected. */
  readonly choresDoneMs: ReadonlyMap<Chore, number>;
  readonly holds: Pick<Holds, "queuePaused" | "collections" | "pausedStages">;
}

export interface StageSurvey {
  readonly stage: Stage;
  /** Where it takes its jobs from; null for the reporter, which works batches. */
  readonly state: JobState | null;
  /** Everything in its queues, whether it may be taken now or not. */
  readonly waiting: number;
  /** What a worker could take now: not locked, not put off, not paused. */
  readonly ready: number;
  /** False when `ready` was reckoned from a sample. */
  readonly exact: boolean;
  /** How long the oldest ready work of the sample has been ready; 0 when there is none. */
  readonly oldestReadyAgeMs: number;
  /** How long the longest of the jobs and batches that were looked at has been in somebody's hands; 0 when none is. */
  readonly oldestLockAgeMs: number;
  readonly workers: number;
  readonly paused: boolean;
}
