import type { SnapshotMetric } from "./export-snapshot.ts";
import type { FleetSurvey } from "./survey.ts";

/** The ingest queue; the general job queue will be others. */
const QUEUE = "ingest";

export const FLEET_METRICS: readonly SnapshotMetric<FleetSurvey>[] = [
  {
    name: "sluice_queue_jobs",
    help: "Jobs in each state",
    labels: ["queue", "state"],
    values: ({ jobs }) => Object.entries(jobs).map(([state, count]) => [{ queue: QUEUE, state }, count]),
  },
  {
    name: "sluice_queue_ready_jobs",
    help: "Work that each stage could take now: not locked, not put off, not paused; reckoned from a sample above 200 jobs",
    labels: ["queue", "stage"],
    values: ({ stages }) => stages.map(({ stage, ready }) => [{ queue: QUEUE, stage }, ready]),
  },
  {
    name: "sluice_queue_oldest_ready_age_seconds",
    help: "How long the oldest ready work of each stage has been ready; 0 when there is none",
    labels: ["queue", "stage"],
    values: ({ stages }) =>
      stages.map(({ stage, oldestReadyAgeMs }) => [{ queue: QUEUE, stage }, oldestReadyAgeMs / 1000]),
  },
  {
    name: "sluice_stage_oldest_lock_age_seconds",
    help: "How long the longest job or batch of each stage has been in somebody's hands; 0 when none is; of a sample above 200 jobs",
    labels: ["stage"],
    values: ({ stages }) => stages.map(({ stage, oldestLockAgeMs }) => [{ stage }, oldestLockAgeMs / 1000]),
  },
  {
    name: "sluice_batches",
    help: "Batches in each state",
    labels: ["state"],
    values: ({ batches }) => Object.entries(batches).map(([state, count]) => [{ state }, count]),
  },
  {
    name: "sluice_batches_oldest_age_seconds",
    help: "How long the oldest batch of each state in which batches are on their way has been in it; 0 when there is none",
    labels: ["state"],
    values: ({ batchAgesMs }) => batchAgesMs.map(([state, ageMs]) => [{ state }, ageMs / 1000]),
  },
  {
    name: "sluice_chore_last_success_timestamp_seconds",
    help: "When what keeps the fleet's house was last done, in Unix time: clean-up, archive, ordered-clean-up (the job fleet/clean-up), purge, snapshot, fsck-report; of what never was, since when it is expected",
    labels: ["chore"],
    values: ({ choresDoneMs }) => [...choresDoneMs].map(([chore, doneMs]) => [{ chore }, doneMs / 1000]),
  },
  {
    name: "sluice_queue_paused",
    help: "1 while the queue is paused (scope ingest); how many stages are paused, how many collections held",
    labels: ["scope"],
    values: ({ holds }) => [
      [{ scope: "ingest" }, holds.queuePaused ? 1 : 0],
      [{ scope: "stage" }, holds.pausedStages.size],
      [{ scope: "collection" }, holds.collections.size],
    ],
  },
  {
    name: "sluice_stage_workers",
    help: "Workers registered for each stage",
    labels: ["stage"],
    values: ({ stages }) => stages.map(({ stage, workers }) => [{ stage }, workers]),
  },
];
