/** How often the attempts at an item failed, in this process; and how long to wait after each. */
import { retryDelayMs } from "../engine/backoff.ts";

/** Others may have finished with an item that failed here: who has not failed for longest is forgotten. */
const REMEMBERED_MAX = 10_000;

export class ItemRetries {
  readonly #random: () => number;
  readonly #failures = new Map<string, number>();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Counts one more; the answer counts from 1. */
  failed(name: string): number {
    const failures = (this.#failures.get(name) ?? 0) + 1;
    this.#failures.delete(name);
    this.#failures.set(name, failures);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > REMEMBERED_MAX && oldest !== undefined) this.#failures.delete(oldest);
    return failures;
  }

  delayMs(failures: number): number {
    return retryDelayMs(failures, this.#random());
  }

  succeeded(name: string): void {
    this.#failures.delete(name);
  }
}
