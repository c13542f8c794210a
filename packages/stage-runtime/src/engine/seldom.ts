/** For what is worth a line, but not a line each time. */
import type { Clock } from "@sluice/zookeeper";

export class Seldom {
  readonly #clock: Clock;
  readonly #everyMs: number;
  #lastMs = -Infinity;

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  isTime(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lastMs < this.#everyMs) return false;
    this.#lastMs = nowMs;
    return true;
  }
}
