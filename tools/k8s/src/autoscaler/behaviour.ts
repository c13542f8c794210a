/** What a HorizontalPodAutoscaler makes of a wish: steady over a window, and no faster than its policies allow. */
import type { Behaviour, Policy, ScalingRule } from "./rule.ts";

export interface Recommendation {
  readonly atMs: number;
  readonly replicas: number;
}

export interface Change {
  readonly atMs: number;
  readonly by: number;
}

const since = <T extends { readonly atMs: number }>(all: readonly T[], nowMs: number, windowMs: number): readonly T[] =>
  all.filter(({ atMs }) => nowMs - atMs < windowMs);

interface Wish {
  readonly replicas: number;
  readonly recommended: number;
  readonly nowMs: number;
}

/** Up to the least, down to the most that was recommended within the window; and the recommendations to remember. */
export function stabilised(
  { scaleUp, scaleDown }: ScalingRule,
  earlier: readonly Recommendation[],
  { replicas, recommended, nowMs }: Wish,
): readonly [number, readonly Recommendation[]] {
  // What runs when nothing is known yet was recommended by somebody.
  const past = earlier.length === 0 ? [{ atMs: nowMs, replicas }] : earlier;
  const all = [...past, { atMs: nowMs, replicas: recommended }];
  const within = ({ windowMs }: Behaviour): readonly number[] => [
    recommended,
    ...since(past, nowMs, windowMs).map((each) => each.replicas),
  ];
  const up = Math.min(...within(scaleUp));
  const down = Math.max(...within(scaleDown));
  const steady = replicas < up ? up : replicas > down ? down : replicas;
  return [steady, since(all, nowMs, Math.max(scaleUp.windowMs, scaleDown.windowMs, 1))];
}

interface Step {
  readonly replicas: number;
  readonly recommendation: number;
  readonly nowMs: number;
}

/** Of several policies, the one that allows the most counts. */
export function withinPolicies(
  { scaleUp, scaleDown }: ScalingRule,
  changes: readonly Change[],
  { replicas, recommendation, nowMs }: Step,
): number {
  const atStartOf = ({ periodMs }: Policy): number =>
    since(changes, nowMs, periodMs).reduce((count, { by }) => count - by, replicas);
  if (recommendation > replicas) {
    const limits = scaleUp.policies.map((policy) => Math.ceil(moved(atStartOf(policy), policy, 1)));
    return Math.min(recommendation, Math.max(replicas, ...limits));
  }
  const limits = scaleDown.policies.map((policy) => Math.floor(moved(atStartOf(policy), policy, -1)));
  return Math.max(recommendation, Math.min(replicas, ...limits));
}

const moved = (from: number, { type, value }: Policy, sign: 1 | -1): number =>
  type === "Pods" ? from + sign * value : from * (1 + (sign * value) / 100);
