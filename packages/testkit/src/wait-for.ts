import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 20;
const DEFAULT_LIMIT_MS = 60_000;

export interface WaitOptions {
  /** For the message when it does not come true. */
  readonly what?: string;
  readonly limitMs?: number;
}

type Falsy = false | null | undefined;

/**
 * The first value of `look` that is not false, null or undefined. Tests wait for what they need, never for a time: the
 * limit only turns a test that would hang into one that says what it waited for.
 */
export async function waitFor<T>(look: () => T | Falsy | Promise<T | Falsy>, options: WaitOptions = {}): Promise<T> {
  const limitMs = options.limitMs ?? DEFAULT_LIMIT_MS;
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const value = await look();
    if (value !== false && value !== null && value !== undefined) return value;
    if (performance.now() > giveUpAt) throw new Error(`${options.what ?? "it"} did not come true within ${limitMs} ms`);
    await sleep(POLL_MS);
  }
}
