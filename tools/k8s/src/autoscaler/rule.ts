/** A ScaledObject as the autoscaler reads it. What it does not know is refused: a simulation must not pass over anything. */
import { z } from "zod";
import { type KubernetesObject, ofKind } from "../object.ts";

export interface Trigger {
  readonly name: string;
  readonly query: string;
  /** The value that one replica is reckoned with. */
  readonly threshold: number;
  /** Above it the stage is awake. */
  readonly activation: number;
}

export interface Policy {
  readonly type: "Pods" | "Percent";
  readonly value: number;
  readonly periodMs: number;
}

export interface Behaviour {
  readonly windowMs: number;
  readonly policies: readonly Policy[];
}

export interface ScalingRule {
  readonly stage: string;
  readonly min: number;
  readonly max: number;
  readonly pollMs: number;
  readonly cooldownMs: number;
  /** After so many polls without an answer, no fewer than `replicas`. */
  readonly fallback: { readonly failures: number; readonly replicas: number };
  readonly triggers: readonly Trigger[];
  readonly scaleUp: Behaviour;
  readonly scaleDown: Behaviour;
}

const seconds = z.number().transform((value) => value * 1_000);

const BehaviourShape = z
  .strictObject({
    stabilizationWindowSeconds: seconds,
    policies: z.array(z.strictObject({ type: z.enum(["Pods", "Percent"]), value: z.number(), periodSeconds: seconds })),
  })
  .transform(({ stabilizationWindowSeconds, policies }) => ({
    windowMs: stabilizationWindowSeconds,
    policies: policies.map(({ type, value, periodSeconds }) => ({ type, value, periodMs: periodSeconds })),
  }));

const TriggerShape = z.strictObject({
  type: z.literal("prometheus"),
  name: z.string(),
  metadata: z.strictObject({
    serverAddress: z.string(),
    query: z.string(),
    threshold: z.coerce.number(),
    activationThreshold: z.coerce.number(),
    ignoreNullValues: z.literal("false"),
  }),
});

const SpecShape = z.strictObject({
  scaleTargetRef: z.strictObject({ kind: z.string(), name: z.string() }),
  minReplicaCount: z.number(),
  maxReplicaCount: z.number(),
  pollingInterval: seconds,
  cooldownPeriod: seconds,
  fallback: z.strictObject({
    failureThreshold: z.number(),
    replicas: z.number(),
    behavior: z.literal("currentReplicasIfHigher"),
  }),
  advanced: z.strictObject({
    horizontalPodAutoscalerConfig: z.strictObject({
      behavior: z.strictObject({ scaleUp: BehaviourShape, scaleDown: BehaviourShape }),
    }),
  }),
  triggers: z.array(TriggerShape),
});

export const scalingRules = (objects: readonly KubernetesObject[]): readonly ScalingRule[] =>
  ofKind(objects, "ScaledObject").map((object) => {
    const spec = SpecShape.parse(object["spec"]);
    const { scaleUp, scaleDown } = spec.advanced.horizontalPodAutoscalerConfig.behavior;
    return {
      stage: spec.scaleTargetRef.name,
      min: spec.minReplicaCount,
      max: spec.maxReplicaCount,
      pollMs: spec.pollingInterval,
      cooldownMs: spec.cooldownPeriod,
      fallback: { failures: spec.fallback.failureThreshold, replicas: spec.fallback.replicas },
      triggers: spec.triggers.map(({ name, metadata: { query, threshold, activationThreshold } }) => ({
        name,
        query,
        threshold,
        activation: activationThreshold,
      })),
      scaleUp,
      scaleDown,
    };
  });

/** The same rule where time runs `factor` times as fast: whatever it measures in seconds is divided, ages of jobs too. */
export function hastened(rule: ScalingRule, factor: number): ScalingRule {
  const behaviour = ({ windowMs, policies }: Behaviour): Behaviour => ({
    windowMs: windowMs / factor,
    policies: policies.map((policy) => ({ ...policy, periodMs: policy.periodMs / factor })),
  });
  return {
    ...rule,
    pollMs: rule.pollMs / factor,
    cooldownMs: rule.cooldownMs / factor,
    triggers: rule.triggers.map((trigger) => hastenedTrigger(trigger, factor)),
    scaleUp: behaviour(rule.scaleUp),
    scaleDown: behaviour(rule.scaleDown),
  };
}

/** Prometheus has the unit in a metric's name. A point in time is compared with so many seconds ago, in the question itself. */
function hastenedTrigger(trigger: Trigger, factor: number): Trigger {
  const { query, threshold } = trigger;
  if (query.includes("_timestamp_seconds"))
    return { ...trigger, query: query.replace(/(?<=< bool )\d+/, (seconds) => String(Number(seconds) / factor)) };
  return query.includes("_seconds") ? { ...trigger, threshold: threshold / factor } : trigger;
}
