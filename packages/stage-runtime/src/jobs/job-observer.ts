/** What people see of a job: one line, the metrics and the list of jobs in hand, at its claim and at its settling. */
import { codeOfMessage, isOfTheDeposit } from "@sluice/queue-core";
import type { Scope } from "../engine/scope.ts";
import type { Verdict } from "../engine/settle.ts";
import { SETTLED_AS, type SettledAs, type Settlement } from "./settlement.ts";
import type { JobTask } from "./task.ts";
import { traceSettled } from "./trace.ts";

/** Counters that begin at 0: of one that appears with its first event, Prometheus does not see the first event. */
export function beginCounting({ metrics, actor: { stage } }: Scope): void {
  for (const outcome of SETTLED_AS) metrics.jobs.inc({ stage, outcome }, 0);
  metrics.abandoned.inc({ stage }, 0);
  metrics.engineErrors.inc({ stage }, 0);
  metrics.stalls.inc({ stage }, 0);
}

export function observeTaken(scope: Scope, task: JobTask): void {
  const { stage } = scope.actor;
  const { job, lease } = task.loaded;
  scope.inHand.take(job.id, job.batchId, job.attempt, job.configuration.profile_name);
  scope.metrics.inProgress.inc({ stage });
  scope.metrics.wait.observe({ stage }, lease.waitedMs / 1000);
  scope.probe({ kind: "claimed", job: job.id });
  const facts = { state: job.state, waited_ms: Math.round(lease.waitedMs) };
  if (lease.lostWorker === null) task.log.info(facts, "job claimed");
  else task.log.warn({ ...facts, lost_worker: lease.lostWorker }, "job taken over: its worker was lost");
}

export function observeSettled(scope: Scope, task: JobTask, settlement: Settlement): void {
  const { stage } = scope.actor;
  const { clock } = scope.queue;
  const { job } = task.loaded;
  const durationMs = clock.monotonicMs() - task.startedMs;
  scope.inHand.drop(job.id);
  scope.metrics.inProgress.dec({ stage });
  scope.metrics.jobs.inc({ stage, outcome: settlement.as });
  scope.metrics.duration.observe({ stage, outcome: settlement.as }, durationMs / 1000);
  scope.metrics.lastSettled.set({ stage }, clock.nowMs() / 1000);
  const reason = settlement.as === "lost" ? settlement.why : reasonOf(settlement.verdict);
  if (UNSUCCESSFUL.has(settlement.as)) scope.metrics.attempts.inc({ stage, reason: codeOfMessage(reason) ?? "NONE" });
  logSettled(task, settlement, durationMs, reason);
  traceSettled(task.span, settlement, reason);
  scope.probe({ kind: "settled", job: job.id, outcome: settlement.as, to: settlement.to });
}

const UNSUCCESSFUL: ReadonlySet<SettledAs> = new Set(["retry", "fail", "quarantine"]);

export function reasonOf(verdict: Verdict): string {
  if (verdict.kind === "back") return verdict.wait.why;
  if (verdict.kind === "leave") return verdict.why;
  const { ending } = verdict;
  switch (ending.kind) {
    case "done":
      return "";
    case "park":
      return ending.why;
    case "fail":
      return `${ending.code}: ${ending.message}`;
    case "quarantine":
      return `QUARANTINED: ${ending.message}`;
  }
}

function logSettled(task: JobTask, { as, to, verdict }: Settlement, durationMs: number, why: string): void {
  const facts = {
    outcome: as,
    state: task.loaded.job.state,
    to,
    duration_ms: Math.round(durationMs),
    ...(why === "" ? {} : { why }),
    ...(verdict.kind === "back" && verdict.wait.delayMs > 0 ? { delay_ms: Math.round(verdict.wait.delayMs) } : {}),
  };
  task.log[levelOf(as, why)](facts, "job settled");
}

/** fatal = will not be tried again, warn = may help, info = key events. Anybody can make a deposit that fails: that alarms nobody. */
function levelOf(as: SettledAs, why: string): "info" | "warn" | "fatal" {
  const code = codeOfMessage(why);
  switch (as) {
    case "fail":
      return code !== null && isOfTheDeposit(code) ? "warn" : "fatal";
    case "quarantine":
      return "fatal";
    case "retry":
    case "lost":
      return "warn";
    case "done":
    case "park":
    case "snooze":
    case "handback":
      return "info";
  }
}
