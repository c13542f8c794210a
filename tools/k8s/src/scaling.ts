/** How each stage is scaled, in the same words for both kinds of scalers. */
import { z } from "zod";
import { type KubernetesObject, ofKind } from "./object.ts";

export interface Scaling {
  readonly stage: string;
  readonly min: number;
  readonly max: number;
  /** What each replica is reckoned with: jobs, seconds of age, … in the order of the questions. */
  readonly perReplica: readonly number[];
}

/** The question that only keeps a stage from sleep: nothing is reckoned from it, and what cannot sleep does not have it. */
const KEEPS_AWAKE = "recent";

const Scaled = z.looseObject({
  spec: z.looseObject({
    minReplicaCount: z.number(),
    maxReplicaCount: z.number(),
    triggers: z.array(z.looseObject({ name: z.string(), metadata: z.looseObject({ threshold: z.coerce.number() }) })),
  }),
});
const Target = z.looseObject({ target: z.looseObject({ averageValue: z.coerce.number() }) });
const Autoscaled = z.looseObject({
  spec: z.looseObject({
    minReplicas: z.number(),
    maxReplicas: z.number(),
    metrics: z.array(z.looseObject({ external: Target.optional() })),
  }),
});

export const scalingByKeda = (objects: readonly KubernetesObject[]): readonly Scaling[] =>
  ofKind(objects, "ScaledObject").map((object) => {
    const { minReplicaCount: min, maxReplicaCount: max, triggers } = Scaled.parse(object).spec;
    const reckoned = triggers.filter(({ name }) => name !== KEEPS_AWAKE);
    return { stage: object.metadata.name, min, max, perReplica: reckoned.map(({ metadata }) => metadata.threshold) };
  });

export const scalingByHpa = (objects: readonly KubernetesObject[]): readonly Scaling[] =>
  ofKind(objects, "HorizontalPodAutoscaler").flatMap((object) => {
    const { minReplicas: min, maxReplicas: max, metrics } = Autoscaled.parse(object).spec;
    const perReplica = metrics.flatMap(({ external }) => external?.target.averageValue ?? []);
    // What is scaled by processor time is no stage.
    return perReplica.length === 0 ? [] : [{ stage: object.metadata.name, min, max, perReplica }];
  });
