import type { JournalStats } from "@sluice/journal";
import { type Instruments, makeInstruments, type MetricSpec, type ServiceParts } from "@sluice/stage-runtime";

export { HTTP_METRICS } from "@sluice/http-api";

// prettier-ignore
export const JOURNAL_METRICS = {
  records:   { type: "gauge",   name: "sluice_journal_records",              labels: [], exportedBy: "each worker", help: "Submissions in the journal that wait for the queue" },
  bytes:     { type: "gauge",   name: "sluice_journal_bytes",                labels: [], exportedBy: "each worker", help: "Size of what waits in the journal" },
  usedRatio: { type: "gauge",   name: "sluice_journal_used_ratio",           labels: [], exportedBy: "each worker", help: "How near the journal is to its bounds of records and bytes; 1 = at its bound" },
  oldestAge: { type: "gauge",   name: "sluice_journal_oldest_age_seconds",   labels: [], exportedBy: "each worker", help: "How long the oldest submission in the journal has waited; 0 when none does" },
  full:      { type: "gauge",   name: "sluice_journal_full",                 labels: [], exportedBy: "each worker", help: "1 while the journal is at its bound, or cannot be written, and submissions are answered 503" },
  appended:  { type: "counter", name: "sluice_journal_appended_total",       labels: [], exportedBy: "each worker", help: "Submissions written to the journal" },
  ingested:  { type: "counter", name: "sluice_journal_ingested_total",       labels: [], exportedBy: "each worker", help: "Submissions of the journal that stand in the queue" },
  refused:   { type: "counter", name: "sluice_journal_refused_total",        labels: [], exportedBy: "each worker", help: "Submissions of the journal that can never become a batch; each is kept in JOURNAL_DIR/refused" },
  damaged:   { type: "counter", name: "sluice_journal_damaged_total",        labels: [], exportedBy: "each worker", help: "Records that the disk did not give back; their segments are kept in JOURNAL_DIR/quarantine" },
} as const satisfies Record<string, MetricSpec>;

// prettier-ignore
export const WALL_METRICS = {
  refused: { type: "counter", name: "sluice_intake_refused_authentications_total", labels: [], exportedBy: "each worker", help: "Requests to the intake with a token or JWT that was not accepted" },
} as const satisfies Record<string, MetricSpec>;

// prettier-ignore
export const QUOTA_METRICS = {
  refused: { type: "counter", name: "sluice_intake_over_quota_total", labels: ["limit"], exportedBy: "each worker", help: "Submissions refused because their collection has too much in progress, by limit: batches, jobs, bytes; the log names the collection" },
} as const satisfies Record<string, MetricSpec>;

// prettier-ignore
export const ACCEPTED_METRICS = {
  unkept: { type: "counter", name: "sluice_intake_accepted_without_record_total", labels: [], exportedBy: "each worker", help: "Submissions that were accepted into the queue, and whose record in the working folder could not be written: a loss of ZooKeeper would lose them" },
} as const satisfies Record<string, MetricSpec>;

// prettier-ignore
export const FOLDER_METRICS = {
  removed: { type: "counter", name: "sluice_intake_folders_removed_total", labels: [], exportedBy: "each worker", help: "Folders of batches that never were, removed after INCOMING_MAX_AGE_MS; the log names each" },
} as const satisfies Record<string, MetricSpec>;

// prettier-ignore
export const SCHEDULE_METRICS = {
  refused: { type: "counter", name: "sluice_intake_schedule_runs_refused_total", labels: [], exportedBy: "each worker", help: "Runs of deposits for later that were refused for good, such as those of a revoked token; the log names the schedule and says why" },
} as const satisfies Record<string, MetricSpec>;

export type JournalMetrics = Pick<Instruments<typeof JOURNAL_METRICS>, "ingested" | "refused" | "damaged"> & {
  readonly show: (stats: JournalStats, appended: number) => void;
};

export function journalMetrics(registry: ServiceParts["registry"]): JournalMetrics {
  const metrics = makeInstruments(JOURNAL_METRICS, registry);
  let counted = 0;
  return {
    ...metrics,
    show({ records, bytes, usedRatio, oldestAgeMs, full, broken }, appended) {
      metrics.records.set(records);
      metrics.bytes.set(bytes);
      metrics.usedRatio.set(usedRatio);
      metrics.oldestAge.set((oldestAgeMs ?? 0) / 1_000);
      metrics.full.set(full || broken !== null ? 1 : 0);
      metrics.appended.inc(appended - counted);
      counted = appended;
    },
  };
}
