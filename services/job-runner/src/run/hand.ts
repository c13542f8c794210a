/** The jobs in hand, each with a signal that says when it is not ours any more. */
import type { JobInHand } from "./types.ts";

interface Held {
  readonly job: JobInHand;
  readonly over: AbortController;
  /** Its lease is renewed no more. */
  readonly letGo: () => void;
}

export class Hand {
  readonly #held = new Map<number, Held>();
  readonly #onChange: () => void;
  #freed: (() => void) | null = null;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#held.size;
  }

  get jobs(): readonly JobInHand[] {
    return [...this.#held.values()].map(({ job }) => job);
  }

  /** "" when idle; the one that has been in hand longest is the first. */
  get ids(): string {
    return [...this.#held.keys()].join(",");
  }

  add(job: JobInHand, letGo: () => void): void {
    this.#held.get(job.id)?.letGo();
    this.#held.set(job.id, { job, over: new AbortController(), letGo });
    this.#onChange();
  }

  /** A job that is not in hand has been over for long. */
  signalOf(job: JobInHand): AbortSignal {
    const held = this.#held.get(job.id);
    return held?.job.lease === job.lease ? held.over.signal : AbortSignal.abort();
  }

  /** Whatever it does from now on counts for nothing. */
  drop(ids: readonly number[], why: string): void {
    for (const id of ids) this.#held.get(id)?.over.abort(new Error(why));
    for (const id of ids) this.#letGo(id);
    if (ids.length > 0) this.#changed();
  }

  remove(job: JobInHand): void {
    if (this.#held.get(job.id)?.job.lease !== job.lease) return;
    this.#letGo(job.id);
    this.#changed();
  }

  /** Resolves at the next job that leaves. */
  freed(): Promise<void> {
    return new Promise((resolve) => (this.#freed = resolve));
  }

  #letGo(id: number): void {
    this.#held.get(id)?.letGo();
    this.#held.delete(id);
  }

  #changed(): void {
    this.#onChange();
    this.#freed?.();
    this.#freed = null;
  }
}
