/** Jobs that are not ready before a time of the server's clock, so that they need not be looked at before. */
import type { JobId, QueueEntry } from "@sluice/queue-core";

/** An operator may shorten a wait: it is looked at again after so long in any case. */
const TRUSTED_MS = 30_000;

export class Waits {
  readonly #waiting = new Map<JobId, { readonly entry: QueueEntry; readonly untilMs: number }>();
  /** Asked for at every turn, and tens of thousands may wait: kept, not looked for. */
  #nextAtMs: number | null = null;

  note(entry: QueueEntry, readyAtMs: number, nowMs: number): void {
    const untilMs = Math.min(readyAtMs, nowMs + TRUSTED_MS);
    this.#waiting.set(entry.id, { entry, untilMs });
    this.#nextAtMs = Math.min(this.#nextAtMs ?? Infinity, untilMs);
  }

  waits(id: JobId, nowMs: number): boolean {
    return (this.#waiting.get(id)?.untilMs ?? -Infinity) > nowMs;
  }

  /** When the first of them is to be looked at again; null when there is none. */
  nextAtMs(): number | null {
    return this.#nextAtMs;
  }

  /** Forgets what is gone, and what waits no longer. */
  keepOnly(isThere: (entry: QueueEntry) => boolean, nowMs: number): void {
    this.#nextAtMs = null;
    for (const [id, { entry, untilMs }] of this.#waiting) {
      if (untilMs <= nowMs || !isThere(entry)) this.#waiting.delete(id);
      else this.#nextAtMs = Math.min(this.#nextAtMs ?? Infinity, untilMs);
    }
  }
}
