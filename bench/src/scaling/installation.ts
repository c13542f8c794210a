/** What the manifests of Kubernetes say: how each stage is scaled, and with which settings a replica of it runs. */
import {
  environmentOf,
  findKustomize,
  hastened,
  podOf,
  render,
  type ScalingRule,
  scalingRules,
  servicesOf,
} from "@sluice/k8s";
import { type Stage, STAGES } from "@sluice/queue-core";
import { fileURLToPath } from "node:url";

const OVERLAY = fileURLToPath(new URL("../../../k8s/overlays/production", import.meta.url));
/** Those that decide how much one replica does, and how it ends. The others name places in a cluster. */
const SETTINGS = ["STAGE_CONCURRENCY", "SHUTDOWN_GRACE_MS", "JOURNAL_DRAIN"];

export interface StageInstallation {
  readonly rule: ScalingRule;
  readonly env: Readonly<Record<string, string>>;
}

export type Installation = Readonly<Record<Stage, StageInstallation>>;

export interface Fit {
  /** Time runs so many times as fast as the manifests mean it. */
  readonly hasteFactor: number;
  /** What this machine can carry of one stage. */
  readonly mostReplicas: number;
}

/** Throws where neither kubectl nor kustomize is installed. */
export function readInstallation({ hasteFactor, mostReplicas }: Fit): Installation {
  const kustomize = findKustomize();
  if ("skip" in kustomize) throw new Error(kustomize.skip);
  const objects = render(kustomize, OVERLAY);
  const rules = scalingRules(objects);
  const pods = servicesOf(objects);
  const ofStage = (stage: Stage): StageInstallation => {
    const rule = rules.find((each) => each.stage === stage);
    const workload = pods.find(({ metadata }) => metadata.name === stage);
    const container = workload === undefined ? undefined : podOf(workload).containers[0];
    if (rule === undefined || container === undefined) throw new Error(`${stage} is not in ${OVERLAY}`);
    const settings = environmentOf(objects, container);
    return {
      rule: { ...hastened(rule, hasteFactor), max: Math.min(rule.max, mostReplicas) },
      env: Object.fromEntries(SETTINGS.flatMap((name) => (name in settings ? [[name, settings[name] ?? ""]] : []))),
    };
  };
  return Object.fromEntries(STAGES.map((stage) => [stage, ofStage(stage)])) as Installation;
}
