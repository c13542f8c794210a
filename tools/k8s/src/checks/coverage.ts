import { type KubernetesObject, ofKind, servicesOf, titleOf } from "../object.ts";

export interface Coverage {
  /** Every service of the code. */
  readonly services: readonly string[];
  /** Those that are scaled by what waits for them. */
  readonly scaled: readonly string[];
  /** The kind of object that scales them here; null = nobody does. */
  readonly scaler: "ScaledObject" | "HorizontalPodAutoscaler" | null;
}

/** Nothing of the code is left out, and nothing is there that the code does not know. */
export function coverageProblems(objects: readonly KubernetesObject[], wanted: Coverage): readonly string[] {
  const workloads = servicesOf(objects);
  const names = workloads.map(({ metadata }) => metadata.name);
  const missing = (kind: string, all: readonly string[]): readonly string[] => {
    const there = ofKind(objects, kind).map(({ metadata }) => metadata.name);
    return all.filter((name) => !there.includes(name)).map((name) => `${kind} ${name} is missing`);
  };
  const scaled = wanted.scaler === null ? [] : wanted.scaled;
  return [
    ...wanted.services.filter((name) => !names.includes(name)).map((name) => `${name} has no workload`),
    ...names.filter((name) => !wanted.services.includes(name)).map((name) => `${name} is no service`),
    ...missing("PodDisruptionBudget", wanted.services),
    ...missing("ServiceAccount", wanted.services),
    ...(wanted.scaler === null ? [] : missing(wanted.scaler, scaled)),
    // `kubectl apply` would set them back again and again.
    ...workloads
      .filter(({ metadata, spec }) => scaled.includes(metadata.name) && spec.replicas !== undefined)
      .map(({ metadata }) => `${metadata.name} is scaled, and has replicas of its own`),
    ...duplicates(objects.map(titleOf)).map((title) => `${title} is there twice`),
  ];
}

const duplicates = (titles: readonly string[]): readonly string[] =>
  titles.filter((title, index) => titles.indexOf(title) !== index);
