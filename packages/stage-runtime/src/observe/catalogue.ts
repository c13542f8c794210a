/** Every metric of the runtime, as data: the registry, docs/metrics.md and the tests are made from it. */

export interface MetricSpec {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  /** For docs/metrics.md, which groups the runtime's rows by it. */
  readonly exportedBy?: string;
}

const SECONDS = [0.05, 0.25, 1, 5, 15, 60, 300, 900, 3_600, 14_400];
const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 3, 10];
const GROUP_SIZES = [1, 2, 5, 10, 20, 35, 50];

// prettier-ignore
export const CATALOGUE = {
  jobs:          { type: "counter",   name: "sluice_stage_jobs_total",                     labels: ["stage", "outcome"],         exportedBy: "each worker",   help: "Jobs settled, by outcome: done, park, retry, snooze, fail, quarantine, handback, lost" },
  duration:      { type: "histogram", name: "sluice_stage_duration_seconds",               labels: ["stage", "outcome"],         exportedBy: "each worker",   help: "From the claim of a job to its settling", buckets: SECONDS },
  inProgress:    { type: "gauge",     name: "sluice_stage_jobs_in_progress",               labels: ["stage"],                    exportedBy: "each worker",   help: "Jobs in hand" },
  wait:          { type: "histogram", name: "sluice_stage_wait_seconds",                   labels: ["stage"],                    exportedBy: "each worker",   help: "From being ready to being claimed", buckets: SECONDS },
  lastSettled:   { type: "gauge",     name: "sluice_stage_last_settled_timestamp_seconds", labels: ["stage"],                    exportedBy: "each worker",   help: "When a job was last settled, in Unix time" },
  attempts:      { type: "counter",   name: "sluice_stage_attempts_total",                 labels: ["stage", "reason"],          exportedBy: "each worker",   help: "Attempts that did not succeed, by error code" },
  concurrency:   { type: "gauge",     name: "sluice_stage_concurrency",                    labels: ["stage"],                    exportedBy: "each worker",   help: "Jobs that this worker takes at a time" },
  locks:         { type: "counter",   name: "sluice_lock_results_total",                   labels: ["result"],                   exportedBy: "each worker",   help: "Claims by result: acquired, held, gone, unknown" },
  oddEntries:    { type: "counter",   name: "sluice_queue_odd_entries_total",              labels: ["stage", "kind"],            exportedBy: "each worker",   help: "Queue entries found that contradict their job, name none of ours, or one that somebody wrote who had lost it: broken, ghost, foreign, overwritten" },
  overdue:       { type: "counter",   name: "sluice_stage_overdue_jobs_total",             labels: ["stage"],                    exportedBy: "each worker",   help: "Jobs found to have waited for over a day, and taken before their turn" },
  admissionWait: { type: "gauge",     name: "sluice_admission_waiting_jobs",               labels: ["stage", "for"],             exportedBy: "each worker",   help: "Jobs not admitted at the last round of decisions, by what they wait for: room, kept-room (overdue: what comes free is kept for it), turn (behind that one), clearing (overdue: failed jobs, uploads or other files are in its way), larger-volume" },
  keptRoom:      { type: "gauge",     name: "sluice_admission_kept_bytes",                 labels: ["stage"],                    exportedBy: "each worker",   help: "What the overdue job needs for which room is kept free; 0 when there is none, or its size is unknown" },
  abandoned:     { type: "counter",   name: "sluice_stage_abandoned_jobs_total",           labels: ["stage"],                    exportedBy: "each worker",   help: "Jobs taken over from a worker that was lost with them in hand" },
  dutyRuns:      { type: "counter",   name: "sluice_duty_runs_total",                      labels: ["stage", "duty", "outcome"], exportedBy: "each worker",   help: "Batches, inbox items and sweeps handled, by outcome" },
  engineErrors:  { type: "counter",   name: "sluice_engine_errors_total",                  labels: ["stage"],                    exportedBy: "each worker",   help: "Defects met by the engine itself; each has a log line" },
  stalls:        { type: "counter",   name: "sluice_event_loop_stalls_total",              labels: ["stage"],                    exportedBy: "each worker",   help: "Sessions lost because a handler kept the event loop from turning; the attempts in hand count" },
  sweepsHung:    { type: "gauge",     name: "sluice_sweep_hung",                           labels: ["stage", "duty"],            exportedBy: "each worker",   help: "1 while a run of a sweep goes on beyond its deadline though it was told to stop" },
  claimsClosed:  { type: "gauge",     name: "sluice_stage_claims_closed",                  labels: ["stage", "reason"],          exportedBy: "each worker",   help: "1 while no jobs are claimed: queue-paused, stage-paused, drained, suspended" },
  sessionState:  { type: "gauge",     name: "sluice_zk_session_state",                     labels: ["state"],                    exportedBy: "every process", help: "1 for the present state of the ZooKeeper session: connecting (before the first), connected, suspended, lost" },
  treeRefused:   { type: "gauge",     name: "sluice_tree_refused",                         labels: ["why"],                      exportedBy: "every process", help: "1 while ZooKeeper answers and this process does not work on what is there, by why: absent (no fleet), foreign (another fleet), older (put back without a restore), unfinished (a restore or an import), layout, merritt, unreadable, part (a part of its own cannot be read)" },
  callDuration:  { type: "histogram", name: "sluice_zk_operation_duration_seconds",        labels: ["op"],                       exportedBy: "every process", help: "Calls to ZooKeeper", buckets: CALL_SECONDS },
  callErrors:    { type: "counter",   name: "sluice_zk_operation_errors_total",            labels: ["op", "code"],               exportedBy: "every process", help: "Calls that ZooKeeper refused or did not answer" },
  groupMoves:    { type: "histogram", name: "sluice_zk_group_moves",                       labels: ["outcome"],                  exportedBy: "every process", help: "Moves that travelled in one transaction", buckets: GROUP_SIZES },
  reconnects:    { type: "counter",   name: "sluice_zk_reconnects_total",                  labels: [],                           exportedBy: "every process", help: "Times a suspended session came back" },
  sessionsLost:  { type: "counter",   name: "sluice_zk_sessions_lost_total",               labels: [],                           exportedBy: "every process", help: "Sessions lost, with the work bound to them" },
  buildInfo:     { type: "gauge",     name: "sluice_build_info",                           labels: ["version", "commit", "node"], exportedBy: "every process", help: "Always 1; the labels say what runs" },
} as const satisfies Record<string, MetricSpec>;
