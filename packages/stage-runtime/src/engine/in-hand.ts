/** The jobs that this process works on, for the registration node, /progress and the shutdown. */
import type { Clock } from "@sluice/zookeeper";
import type { Progress } from "../duty.ts";

export interface HandEntry {
  readonly job: string;
  readonly batch: string;
  readonly attempt: number;
  readonly sinceMs: number;
  readonly progress: Progress | null;
}

export class InHand {
  readonly #clock: Clock;
  readonly #entries = new Map<string, HandEntry>();
  readonly #listeners = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(job: string): boolean {
    return this.#entries.has(job);
  }

  list(): readonly HandEntry[] {
    return [...this.#entries.values()];
  }

  take(job: string, batch: string, attempt: number): void {
    this.#entries.set(job, { job, batch, attempt, sinceMs: this.#clock.nowMs(), progress: null });
    this.#changed();
  }

  show(job: string, progress: Progress): void {
    const entry = this.#entries.get(job);
    if (entry === undefined) return;
    this.#entries.set(job, { ...entry, progress });
    this.#changed();
  }

  drop(job: string): void {
    if (this.#entries.delete(job)) this.#changed();
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
