/** Jobs that are not ready before a time of the server's clock, so that they need not be looked at before. */
import type { JobId } from "@sluice/queue-core";

/** An operator may shorten a wait: it is looked at again after so long in any case. */
const TRUSTED_MS = 30_000;

export class Waits {
  readonly #untilMs = new Map<JobId, number>();
  /** Asked for at every turn, and tens of thousands may wait: kept, not looked for. */
  #nextAtMs: number | null = null;

  note(id: JobId, readyAtMs: number, nowMs: number): void {
    const untilMs = Math.min(readyAtMs, nowMs + TRUSTED_MS);
    this.#untilMs.set(id, untilMs);
    this.#nextAtMs = Math.min(this.#nextAtMs ?? Infinity, untilMs);
  }

  waits(id: JobId, nowMs: number): boolean {
    return (this.#untilMs.get(id) ?? -Infinity) > nowMs;
  }

  /** When the first of them is to be looked at again; null when there is none. */
  nextAtMs(): number | null {
    return this.#nextAtMs;
  }

  /** Forgets what is gone, and what waits no longer. */
  keepOnly(present: ReadonlySet<JobId>, nowMs: number): void {
    this.#nextAtMs = null;
    for (const [id, untilMs] of this.#untilMs) {
      if (untilMs <= nowMs || !present.has(id)) this.#untilMs.delete(id);
      else this.#nextAtMs = Math.min(this.#nextAtMs ?? Infinity, untilMs);
    }
  }
}
