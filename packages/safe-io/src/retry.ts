import { setTimeout as delay } from "node:timers/promises";

import type { IoFault } from "./outcome.ts";

export interface RetryPlan {
  /** Tries in all. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly maxMs: number;
  /** A host that asks for a longer pause is left to whoever can wait that long. */
  readonly maxRetryAfterMs: number;
}

/** Waits, or returns early when the signal fires. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>;

export const realWait: Wait = async (ms, signal) => {
  try {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  } catch {
    // Aborted: the caller looks at its signal.
  }
};

/** How long to wait after the `attempt`-th failure (from 1); undefined: do not try again. Full jitter, growing fourfold. */
export function retryDelayMs(
  fault: IoFault,
  attempt: number,
  plan: RetryPlan,
  random: () => number,
): number | undefined {
  if (!fault.retryable || attempt >= plan.attempts) return undefined;
  if (fault.retryAfterMs !== undefined) {
    return fault.retryAfterMs > plan.maxRetryAfterMs ? undefined : fault.retryAfterMs;
  }
  return Math.round(random() * Math.min(plan.maxMs, plan.baseMs * 4 ** (attempt - 1)));
}
