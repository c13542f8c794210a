/** How often the attempts at an item failed, in this process; and how long to wait after each. */
import { retryDelayMs } from "../engine/backoff.ts";

export class ItemRetries {
  readonly #random: () => number;
  readonly #failures = new Map<string, number>();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Counts one more; the answer counts from 1. */
  failed(name: string): number {
    const failures = (this.#failures.get(name) ?? 0) + 1;
    this.#failures.set(name, failures);
    return failures;
  }

  delayMs(failures: number): number {
    return retryDelayMs(failures, this.#random());
  }

  succeeded(name: string): void {
    this.#failures.delete(name);
  }
}
