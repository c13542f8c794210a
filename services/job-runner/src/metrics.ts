import type { Told } from "@sluice/job-workers";
import { makeInstruments, type MetricSpec } from "@sluice/stage-runtime";
import type { Registry } from "prom-client";
import { ENGINE_LIMITS, type EngineLimits } from "./container/engine-limits.ts";
import type { NextStep } from "./decide/next-step.ts";
import type { Broken } from "./sandbox/context.ts";
import { type Standing, WALLS } from "./sandbox/walls.ts";

export const RUNNER_METRICS = {
  runs: {
    type: "counter",
    name: "sluice_job_runs_total",
    help: "Runs of the general queue's jobs that ended here, by code (retry, ok, failed, error) and by what became of the job: finish, retry, abandon",
    labels: ["code", "next"],
    exportedBy: "each worker",
  },
  inHand: {
    type: "gauge",
    name: "sluice_job_runs_in_hand",
    help: "Jobs of the general queue that this runner has in hand",
    labels: [],
    exportedBy: "each worker",
  },
  contexts: {
    type: "gauge",
    name: "sluice_job_contexts",
    help: "Processes in which tenants' code runs, or waits for more of it",
    labels: [],
    exportedBy: "each worker",
  },
  broken: {
    type: "counter",
    name: "sluice_job_contexts_broken_total",
    help: "Processes of tenants' code that were ended for cause: timeout, cpu, memory, flood, crash, nonsense",
    labels: ["why"],
    exportedBy: "each worker",
  },
  walls: {
    type: "gauge",
    name: "sluice_job_walls",
    help: "1 for each wall around tenants' code that stands on this machine: user, namespaces, permissions",
    labels: ["wall"],
    exportedBy: "each worker",
  },
  engineLimits: {
    type: "gauge",
    name: "sluice_container_limits",
    help: "1 for each limit that the Docker engine can hold containers to, 0 for each that it lacks: memory, swap, cpus, pids, seccomp",
    labels: ["limit"],
    exportedBy: "each worker",
  },
  refusedImages: {
    type: "counter",
    name: "sluice_container_images_refused_total",
    help: "Container jobs that failed because their image is none of CONTAINER_IMAGES",
    labels: [],
    exportedBy: "each worker",
  },
  dead: {
    type: "counter",
    name: "sluice_job_workers_declared_dead_total",
    help: "Workers of the general queue that this runner declared dead",
    labels: [],
    exportedBy: "each worker",
  },
  hooks: {
    type: "counter",
    name: "sluice_job_dead_worker_hooks_total",
    help: "Calls of DEAD_WORKER_HOOK by outcome: told (heard), failed (tried again later), given-up (never heard, for as long as DEAD_WORKER_KEEP_MS)",
    labels: ["outcome"],
    exportedBy: "each worker",
  },
  findings: {
    type: "gauge",
    name: "sluice_fsck_report_findings",
    help: "Findings of the latest report that fleet/fsck-report made",
    labels: [],
    exportedBy: "each worker",
  },
} as const satisfies Record<string, MetricSpec>;

const CODES = ["retry", "ok", "failed", "error"] as const satisfies NextStep["code"][];
const NEXT: Readonly<Record<(typeof CODES)[number], readonly NextStep["kind"][]>> = {
  ok: ["finish"],
  failed: ["finish", "end"],
  retry: ["retry", "abandon"],
  error: ["retry", "abandon"],
};
const HOOK_OUTCOMES = ["told", "failed", "given-up"] as const;
const CAUSES = ["timeout", "cpu", "memory", "flood", "crash", "nonsense"] as const satisfies Broken[];

export interface RunnerMetrics {
  readonly settled: (step: NextStep) => void;
  readonly inHand: (jobs: number) => void;
  readonly contexts: (count: number) => void;
  readonly broken: (why: Broken) => void;
  readonly engineLimits: (limits: EngineLimits) => void;
  readonly refusedImage: () => void;
  readonly dead: (workers: number) => void;
  readonly hooks: (hooks: Told) => void;
  readonly findings: (count: number) => void;
}

export function runnerMetrics(registry: Registry, standing: Standing): RunnerMetrics {
  const made = makeInstruments(RUNNER_METRICS, registry);
  // Of a counter that appears with its first event, Prometheus does not see the first event.
  for (const code of CODES) for (const next of NEXT[code]) made.runs.inc({ code, next }, 0);
  for (const why of CAUSES) made.broken.inc({ why }, 0);
  for (const outcome of HOOK_OUTCOMES) made.hooks.inc({ outcome }, 0);
  for (const wall of WALLS) made.walls.set({ wall }, standing.walls[wall] ? 1 : 0);
  return {
    settled: ({ code, kind }) => made.runs.inc({ code, next: kind }),
    inHand: (jobs) => made.inHand.set(jobs),
    contexts: (count) => made.contexts.set(count),
    broken: (why) => {
      if (why !== "ended") made.broken.inc({ why });
    },
    engineLimits: (limits) => {
      for (const limit of ENGINE_LIMITS) made.engineLimits.set({ limit }, limits[limit] ? 1 : 0);
    },
    refusedImage: () => made.refusedImages.inc(),
    dead: (workers) => made.dead.inc(workers),
    hooks: ({ told, failed, givenUp }) => {
      made.hooks.inc({ outcome: "told" }, told.length);
      made.hooks.inc({ outcome: "failed" }, failed.length);
      made.hooks.inc({ outcome: "given-up" }, givenUp.length);
    },
    findings: (count) => made.findings.set(count),
  };
}
