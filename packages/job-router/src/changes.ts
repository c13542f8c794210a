/** Something has changed: whoever waits for that looks again. */
import type { Later } from "./ports.ts";

export class Changes {
  readonly #later: Later;
  readonly #waiting = new Set<() => void>();

  constructor(later: Later) {
    this.#later = later;
  }

  tell(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Until the next change, that long at most, or until the caller gives up. */
  next(ms: number, gone?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        stop();
        this.#waiting.delete(wake);
        gone?.removeEventListener("abort", wake);
        resolve();
      };
      const stop = this.#later(ms, wake);
      this.#waiting.add(wake);
      gone?.addEventListener("abort", wake);
      if (gone?.aborted === true) wake();
    });
  }
}
