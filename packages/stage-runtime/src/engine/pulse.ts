/** Whether the engine turns, and when it last saw its queue: what /livez and /readyz are made from. */
import type { Clock } from "@sluice/zookeeper";

export class Pulse {
  readonly #clock: Clock;
  readonly #turnedAtMs = new Map<string, number>();
  #sawQueueAtMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A loop went around. */
  turned(duty: string): void {
    this.#turnedAtMs.set(duty, this.#clock.monotonicMs());
  }

  /** A loop has ended, or does something that may take as long as it takes: nothing to expect of it. */
  resting(duty: string): void {
    this.#turnedAtMs.delete(duty);
  }

  /** ZooKeeper answered a question of the engine. */
  sawQueue(): void {
    this.#sawQueueAtMs = this.#clock.monotonicMs();
  }

  sinceQueueSeenMs(): number {
    return this.#clock.monotonicMs() - this.#sawQueueAtMs;
  }

  /** The loops that have not turned for longer than that. */
  stuck(longerThanMs: number): readonly string[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#turnedAtMs].filter(([, atMs]) => nowMs - atMs > longerThanMs).map(([duty]) => duty);
  }
}
