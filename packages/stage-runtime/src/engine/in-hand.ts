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
  readonly #collectionOf = new Map<string, string>();
  /** How many jobs of each collection. */
  readonly #counts = new Map<string, number>();
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

  /** How many jobs of a collection. */
  of(collection: string): number {
    return this.#counts.get(collection) ?? 0;
  }

  /** The collection whose jobs all are; undefined if there are several, or none. */
  onlyCollection(): string | undefined {
    return this.#counts.size === 1 ? [...this.#counts.keys()][0] : undefined;
  }

  take(job: string, batch: string, attempt: number, collection: string): void {
    this.#uncount(job);
    this.#entries.set(job, { job, batch, attempt, sinceMs: this.#clock.nowMs(), progress: null });
    this.#collectionOf.set(job, collection);
    this.#counts.set(collection, this.of(collection) + 1);
    this.#changed();
  }

  show(job: string, progress: Progress): void {
    const entry = this.#entries.get(job);
    if (entry === undefined) return;
    this.#entries.set(job, { ...entry, progress });
    this.#changed();
  }

  drop(job: string): void {
    this.#uncount(job);
    if (this.#entries.delete(job)) this.#changed();
  }

  #uncount(job: string): void {
    const collection = this.#collectionOf.get(job);
    if (collection === undefined) return;
    this.#collectionOf.delete(job);
    const left = this.of(collection) - 1;
    if (left > 0) this.#counts.set(collection, left);
    else this.#counts.delete(collection);
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
