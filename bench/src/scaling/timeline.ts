/** What was seen at every poll: of each stage what was ready, in hand, and how many replicas there were. */
import { type Stage, STAGES } from "@sluice/queue-core";
import { loadavg } from "node:os";
import type { Answers } from "./prometheus.ts";

export interface StageMoment {
  /** Null: Prometheus had no number. */
  readonly ready: number | null;
  readonly inHand: number;
  readonly replicas: number;
}

export interface Moment {
  readonly seconds: number;
  /** Of the machine, over the last minute. */
  readonly load: number;
  readonly stages: Readonly<Record<Stage, StageMoment>>;
}

export async function lookAt(
  prometheus: Answers,
  namespace: string,
  replicas: (stage: Stage) => number,
  seconds: number,
): Promise<Moment> {
  const [ready, inHand] = await Promise.all([
    prometheus.byStage(`max by (stage) (sluice_queue_ready_jobs{namespace="${namespace}",queue="ingest"})`),
    prometheus.byStage(`sum by (stage) (sluice_stage_jobs_in_progress{namespace="${namespace}"})`),
  ]);
  const stages = STAGES.map((stage) => [
    stage,
    { ready: ready.get(stage) ?? null, inHand: inHand.get(stage) ?? 0, replicas: replicas(stage) },
  ]);
  return { seconds, load: loadavg()[0] ?? 0, stages: Object.fromEntries(stages) as Moment["stages"] };
}

export const csvOf = (moments: readonly Moment[]): string =>
  [
    [
      "seconds",
      "load",
      ...STAGES.flatMap((stage) => ["ready", "in_hand", "replicas"].map((what) => `${stage}_${what}`)),
    ],
    ...moments.map(({ seconds, load, stages }) => [
      seconds.toFixed(1),
      load.toFixed(1),
      ...STAGES.flatMap((stage) => [stages[stage].ready ?? "", stages[stage].inHand, stages[stage].replicas]),
    ]),
  ]
    .map((cells) => `${cells.join(",")}\n`)
    .join("");

export const meanLoad = (moments: readonly Moment[]): number =>
  moments.reduce((sum, { load }) => sum + load, 0) / moments.length;

/** What a cluster would be billed for. */
export const replicaSeconds = (moments: readonly Moment[]): number =>
  moments.reduce((sum, { seconds, stages }, n) => {
    const spanSeconds = seconds - (moments[n - 1]?.seconds ?? 0);
    return sum + spanSeconds * STAGES.reduce((count, stage) => count + stages[stage].replicas, 0);
  }, 0);

export const mostReplicas = (moments: readonly Moment[], stage: Stage): number =>
  Math.max(...moments.map(({ stages }) => stages[stage].replicas));

/** How often replicas were added or taken away. */
export function changesOf(moments: readonly Moment[]): { readonly added: number; readonly removed: number } {
  let [added, removed] = [0, 0];
  moments.slice(1).forEach((moment, n) => {
    for (const stage of STAGES) {
      const by = moment.stages[stage].replicas - (moments[n]?.stages[stage].replicas ?? 0);
      if (by > 0) added += by;
      else removed -= by;
    }
  });
  return { added, removed };
}
