import type { Clock } from "./port.ts";

/** The server's wall clock, carried on by our monotonic one from the last moment at which the server told it. */
export class ServerClock {
  readonly #clock: Clock;
  #aheadOfMonotonicMs: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The server wrote `mtime` somewhere between our asking and its answer: the middle is the best guess. */
  sample(mtime: number, askedMs: number, answeredMs: number): void {
    this.#aheadOfMonotonicMs = mtime - (askedMs + answeredMs) / 2;
  }

  nowMs(): number {
    if (this.#aheadOfMonotonicMs === null) return this.#clock.nowMs();
    return Math.round(this.#clock.monotonicMs() + this.#aheadOfMonotonicMs);
  }
}
