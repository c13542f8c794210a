/** What KEDA and Kubernetes would do, by their formula: asks Prometheus at every poll, and gives each stage its replicas. */
import { decide, NEW_SCALER, type ScalerState } from "@sluice/k8s";
import { type Stage, STAGES } from "@sluice/queue-core";
import type { Installation } from "./installation.ts";
import type { Answers } from "./prometheus.ts";
import type { StageProcesses } from "./stage-processes.ts";

export interface Autoscaler {
  /** Throws if a process cannot be started. */
  poll(): Promise<void>;
}

export function autoscaler(installation: Installation, prometheus: Answers, processes: StageProcesses): Autoscaler {
  const states = new Map<Stage, ScalerState>();
  async function scale(stage: Stage): Promise<void> {
    const { rule } = installation[stage];
    const values = await Promise.all(rule.triggers.map(({ query }) => prometheus.value(query)));
    const seen = { nowMs: performance.now(), replicas: processes.wanted(stage), values };
    const { replicas, state } = decide(rule, states.get(stage) ?? NEW_SCALER, seen);
    states.set(stage, state);
    if (replicas !== seen.replicas) await processes.scaleTo(stage, replicas);
  }
  return {
    poll: async () => {
      await Promise.all(STAGES.map(scale));
    },
  };
}

/** Nobody scales: the other half of the comparison. */
export const NO_AUTOSCALER: Autoscaler = { poll: () => Promise.resolve() };
