import { HTTP_METRICS } from "@sluice/http-api";
import type { JobJournals, JobJournalStats } from "@sluice/job-journal";
import { NOTICES, SYSTEM_TENANT, type TenantUsage } from "@sluice/job-queue";
import { type JobRouter, type ReadyType, ROUTER_METRICS, type RouterHooks } from "@sluice/job-router";
import { makeInstruments, type MetricSpec } from "@sluice/stage-runtime";
import { Gauge, type Registry } from "prom-client";

export { HTTP_METRICS, ROUTER_METRICS };

// prettier-ignore
export const DOOR_METRICS = {
  requests: { type: "counter",   name: "sluice_job_api_requests_total",                labels: ["operation", "status"], exportedBy: "each job-api", help: "HTTP requests answered, by endpoint and status" },
  refused:  { type: "counter",   name: "sluice_job_api_refused_authentications_total", labels: [],                      exportedBy: "each job-api", help: "Requests with a token or JWT that was not accepted, over HTTP or TCP" },
} as const satisfies Record<string, MetricSpec>;

// prettier-ignore
export const JOB_JOURNAL_METRICS = {
  lines:     { type: "gauge",   name: "sluice_job_journal_lines",              labels: [], exportedBy: "each job-api", help: "Jobs in the journal that wait for the owner of their shard" },
  bytes:     { type: "gauge",   name: "sluice_job_journal_bytes",              labels: [], exportedBy: "each job-api", help: "Size of what waits in the journal" },
  usedRatio: { type: "gauge",   name: "sluice_job_journal_used_ratio",         labels: [], exportedBy: "each job-api", help: "How near the fullest shard's journal is to its bound; 1 = at its bound" },
  oldestAge: { type: "gauge",   name: "sluice_job_journal_oldest_age_seconds", labels: [], exportedBy: "each job-api", help: "How long the oldest job in the journal has waited; 0 when none does" },
  ingested:  { type: "counter", name: "sluice_job_journal_ingested_total",     labels: [], exportedBy: "each job-api", help: "Jobs of the journal that stand in the queue" },
  refused:   { type: "counter", name: "sluice_job_journal_refused_total",      labels: [], exportedBy: "each job-api", help: "Lines of the journal that can be no job; each has a log line" },
} as const satisfies Record<string, MetricSpec>;

/** Of the shards that a process owns, so that the sum over all job-apis is the queue. No tenant or type is a label: they are without number. */
// prettier-ignore
export const READY_METRICS = {
  ready:     { type: "gauge", name: "sluice_jobs_ready",                    labels: ["by"], exportedBy: "each job-api", help: "Jobs in this process's shards that could run now, by whom they wait for: runners (types with handlers, the fleet's own), workers (all others)" },
  running:   { type: "gauge", name: "sluice_jobs_running",                  labels: [],     exportedBy: "each job-api", help: "Runs that are under way, of jobs in this process's shards" },
  workerTime: { type: "gauge", name: "sluice_jobs_worker_seconds",          labels: [],     exportedBy: "each job-api", help: "For how long jobs of this process's shards have occupied workers since it has these shards; turns are shared by it" },
  oldestAge: { type: "gauge", name: "sluice_jobs_oldest_ready_age_seconds", labels: ["by"], exportedBy: "each job-api", help: "How long the oldest of them could have run; 0 when there is none" },
} as const satisfies Record<string, MetricSpec>;

// prettier-ignore
export const REDO_METRICS = {
  lost:  { type: "counter", name: "sluice_jobs_redo_lost_total",            labels: [], exportedBy: "each job-api", help: "Transactions of the job queue that stand in ZooKeeper alone: the redo log in JOB_STORE_DIR did not take them" },
  cutAt: { type: "gauge",   name: "sluice_jobs_redo_cut_timestamp_seconds", labels: [], exportedBy: "each job-api", help: "Until when the redo log was cut off for want of room (JOB_REDO_MAX_BYTES); 0: it never was" },
} as const satisfies Record<string, MetricSpec>;

/** What is computed when somebody looks. */
export function exportState(registry: Registry, router: JobRouter, journals: JobJournals): void {
  const stats = (): readonly JobJournalStats[] => [...journals.stats().values()];
  const most = (of: (stats: JobJournalStats) => number): number =>
    stats().reduce((most, each) => Math.max(most, of(each)), 0);
  const sum = (of: (stats: JobJournalStats) => number): number => stats().reduce((total, each) => total + of(each), 0);
  showGauge(registry, ROUTER_METRICS.shardsOwned, () => router.stats().shardsOwned);
  showGauge(registry, ROUTER_METRICS.waiters, () => router.stats().waiters);
  showGauge(registry, ROUTER_METRICS.quarantined, () => router.stats().quarantined);
  showGauge(registry, ROUTER_METRICS.endedInTree, () => router.stats().endedInTree);
  const total = (of: (usage: TenantUsage) => number): number =>
    router.usage().reduce((sum, usage) => sum + of(usage), 0);
  showGauge(registry, READY_METRICS.running, () => total(({ running }) => running));
  showGauge(registry, READY_METRICS.workerTime, () => total(({ endedMs, runningMs }) => endedMs + runningMs) / 1_000);
  showGauge(registry, JOB_JOURNAL_METRICS.lines, () => sum(({ lines }) => lines));
  showGauge(registry, JOB_JOURNAL_METRICS.bytes, () => sum(({ bytes }) => bytes));
  showGauge(registry, JOB_JOURNAL_METRICS.usedRatio, () => most(({ usedRatio }) => usedRatio));
  showGauge(registry, JOB_JOURNAL_METRICS.oldestAge, () => most(({ oldestAgeMs }) => (oldestAgeMs ?? 0) / 1_000));
}

function showGauge(registry: Registry, { name, help }: Pick<MetricSpec, "name" | "help">, value: () => number): void {
  const gauge: Gauge = new Gauge({ name, help, registers: [registry], collect: () => gauge.set(value()) });
}

export function exportReady(
  registry: Registry,
  router: Pick<JobRouter, "ready">,
  handled: { has(tenant: string, name: string): boolean },
  nowMs: () => number,
): void {
  const byTaker = (): Readonly<Record<"runners" | "workers", readonly ReadyType[]>> => {
    const types = router.ready();
    // The fleet's own jobs need no handler in the tree.
    const isForRunners = ({ tenant, name }: ReadyType): boolean =>
      tenant === SYSTEM_TENANT || handled.has(tenant, name);
    return { runners: types.filter(isForRunners), workers: types.filter((type) => !isForRunners(type)) };
  };
  showGauges(registry, READY_METRICS.ready, byTaker, (types) => types.reduce((sum, { count }) => sum + count, 0));
  showGauges(registry, READY_METRICS.oldestAge, byTaker, (types) => {
    const now = nowMs();
    // No spread: types are without number, a stack is not.
    return types.reduce((oldest, { oldestDue }) => Math.max(oldest, (now - oldestDue) / 1_000), 0);
  });
}

function showGauges(
  registry: Registry,
  { name, help, labels }: Pick<MetricSpec, "name" | "help" | "labels">,
  all: () => Readonly<Record<string, readonly ReadyType[]>>,
  value: (types: readonly ReadyType[]) => number,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect: () => {
      for (const [by, types] of Object.entries(all())) gauge.set({ by }, value(types));
    },
  });
}

/** Those of the router that are counted as things happen. */
export const routerHooks = (registry: Registry): RouterHooks => {
  const { shardsOwned: _, waiters: __, quarantined: ___, endedInTree: ____, ...counted } = ROUTER_METRICS;
  const { requestSeconds, requests, takeovers, termEnds, pauses, notices, ...archive } = makeInstruments(
    counted,
    registry,
  );
  // A counter that is not there until it counts looks like one that nobody exports.
  for (const what of NOTICES) notices.inc({ what }, 0);
  for (const what of ["creates", "takes"]) archive.heldBack.inc({ what }, 0);
  return {
    onRequest(where, outcome, seconds) {
      requests.inc({ where, outcome });
      requestSeconds.observe({ where }, seconds);
    },
    onTakeover: (from) => takeovers.inc({ from }),
    onTermEnd: (why) => termEnds.inc({ why }),
    onPause: () => pauses.inc(),
    onArchived: (runs) => archive.archived.inc(runs),
    onArchiveFailure: () => archive.archiveFailures.inc(),
    onHeldBack: (what) => archive.heldBack.inc({ what }),
    onNotice: (what) => notices.inc({ what }),
  };
};

export function journalCounters(registry: Registry) {
  const { ingested, refused } = JOB_JOURNAL_METRICS;
  return makeInstruments({ ingested, refused }, registry);
}
