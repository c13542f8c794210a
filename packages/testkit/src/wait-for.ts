import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 20;
/**
 * How long anything may show no progress: far above what a step takes, also on a machine that does ten other things at
 * once. The one limit of tests, beside jest's own last one (`testTimeout`).
 */
export const WAIT_LIMIT_MS = 240_000;

export interface WaitOptions {
  /** For the message when it does not come true. */
  readonly what?: string;
  readonly limitMs?: number;
  /** What changes while it still comes nearer: the limit then counts from the last change, not from the beginning. */
  readonly progress?: () => unknown;
}

type Falsy = false | null | undefined;

/**
 * The first value of `look` that is not false, null or undefined. Tests wait for what they need, never for a time: the
 * limit only turns a test that would hang into one that says what it waited for.
 */
export async function waitFor<T>(look: () => T | Falsy | Promise<T | Falsy>, options: WaitOptions = {}): Promise<T> {
  const limitMs = options.limitMs ?? WAIT_LIMIT_MS;
  let giveUpAt = performance.now() + limitMs;
  let state = options.progress?.();
  for (;;) {
    const value = await look();
    if (value !== false && value !== null && value !== undefined) return value;
    const now = options.progress?.();
    if (now !== state) [state, giveUpAt] = [now, performance.now() + limitMs];
    if (performance.now() > giveUpAt) throw new Error(`${options.what ?? "it"} did not come true within ${limitMs} ms`);
    await sleep(POLL_MS);
  }
}
