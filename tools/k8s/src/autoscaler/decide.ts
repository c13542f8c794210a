/**
 * How many replicas a stage gets: KEDA's part (to and from zero, fallback) and that of the HorizontalPodAutoscaler which KEDA
 * makes of a ScaledObject (one to many, with its windows and policies). Pure: time and values are given.
 */
import { type Change, type Recommendation, stabilised, withinPolicies } from "./behaviour.ts";
import type { ScalingRule } from "./rule.ts";

/** Kubernetes' default: a ratio this near to one changes nothing. */
const TOLERANCE = 0.1;

export interface ScalerState {
  /** Polls in a row without an answer, for each trigger. */
  readonly failures: readonly number[];
  readonly lastActiveMs: number | null;
  readonly recommendations: readonly Recommendation[];
  readonly changes: readonly Change[];
}

export const NEW_SCALER: ScalerState = { failures: [], lastActiveMs: null, recommendations: [], changes: [] };

export interface Observation {
  readonly nowMs: number;
  /** That are wanted now, whether ready or not. */
  readonly replicas: number;
  /** For each trigger; null: no answer. */
  readonly values: readonly (number | null)[];
}

export interface Decision {
  readonly replicas: number;
  readonly state: ScalerState;
}

export function decide(rule: ScalingRule, before: ScalerState, seen: Observation): Decision {
  const state = noted(rule, before, seen);
  if (seen.replicas === 0) return { replicas: fromZero(rule, state, seen), state };
  if (mayGoToZero(rule, state, seen)) return { replicas: 0, state };
  return amongMany(rule, state, seen);
}

function noted({ triggers }: ScalingRule, state: ScalerState, { values, nowMs }: Observation): ScalerState {
  const failures = triggers.map((_, i) => (values[i] === null ? (state.failures[i] ?? 0) + 1 : 0));
  const active = triggers.some(({ activation }, i) => (values[i] ?? Number.NEGATIVE_INFINITY) > activation);
  return { ...state, failures, lastActiveMs: active ? nowMs : state.lastActiveMs };
}

function fromZero({ min, fallback }: ScalingRule, state: ScalerState, { nowMs }: Observation): number {
  if (state.lastActiveMs === nowMs) return Math.max(1, min);
  return state.failures.some((count) => count >= fallback.failures) ? Math.max(fallback.replicas, min) : min;
}

/** All at once, however many there are; and never while a question has no answer. */
function mayGoToZero({ min, cooldownMs }: ScalingRule, state: ScalerState, { nowMs }: Observation): boolean {
  const { failures, lastActiveMs } = state;
  if (min > 0 || failures.some((count) => count > 0)) return false;
  return lastActiveMs === null || nowMs - lastActiveMs > cooldownMs;
}

function amongMany(rule: ScalingRule, state: ScalerState, { replicas, values, nowMs }: Observation): Decision {
  const wanted = rule.triggers.map(({ threshold }, i) => {
    const value = values[i] ?? null;
    if (value !== null) return replicasFor(value, threshold, replicas);
    const fallen = (state.failures[i] ?? 0) >= rule.fallback.failures;
    return fallen ? Math.max(replicas, rule.fallback.replicas) : null;
  });
  const known = wanted.filter((count) => count !== null);
  const desired = Math.max(...known, 0);
  // Missing numbers may add replicas and take none away.
  const unknown = known.length === 0 || (known.length < wanted.length && desired < replicas);
  const recommended = unknown ? replicas : desired;
  const [recommendation, recommendations] = stabilised(rule, state.recommendations, { replicas, recommended, nowMs });
  const allowed = withinPolicies(rule, state.changes, { replicas, recommendation, nowMs });
  const next = Math.min(Math.max(allowed, rule.min, 1), rule.max);
  const changes = next === replicas ? state.changes : [...state.changes, { atMs: nowMs, by: next - replicas }];
  return { replicas: next, state: { ...state, recommendations, changes } };
}

function replicasFor(value: number, threshold: number, replicas: number): number {
  const ratio = value / (threshold * replicas);
  return Math.abs(ratio - 1) <= TOLERANCE ? replicas : Math.ceil(value / threshold);
}
