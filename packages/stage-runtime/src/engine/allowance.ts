/** So much at once, and so much a second: for work that may be put off, but should not pile up. */
import type { Clock } from "@sluice/zookeeper";

export class Allowance {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #perSecond: number;
  #left: number;
  #atMs: number;

  constructor(clock: Clock, most: number, perSecond: number) {
    this.#clock = clock;
    this.#most = most;
    this.#perSecond = perSecond;
    this.#left = most;
    this.#atMs = clock.monotonicMs();
  }

  get left(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#left = Math.min(this.#most, this.#left + (this.#perSecond * (nowMs - this.#atMs)) / 1000);
    this.#atMs = nowMs;
    return Math.floor(this.#left);
  }

  spend(count: number): void {
    this.#left -= count;
  }
}
