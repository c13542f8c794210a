import type { FleetSurvey } from "./survey.ts";

/** What GET /v1/queue answers. */
export const queueJson = ({ fleetId, atMs, jobs, batches, stages, holds }: FleetSurvey) => ({
  fleet: fleetId,
  at: new Date(atMs).toISOString(),
  jobs,
  batches,
  stages: stages.map((stage) => ({
    stage: stage.stage,
    state: stage.state,
    waiting: stage.waiting,
    ready: stage.ready,
    ready_is_exact: stage.exact,
    oldest_ready_age_seconds: Math.round(stage.oldestReadyAgeMs / 1000),
    workers: stage.workers,
    paused: stage.paused,
  })),
  holds: {
    queue_paused: holds.queuePaused,
    stages_paused: [...holds.pausedStages].sort(),
    collections_held: [...holds.collections].sort(),
  },
});
