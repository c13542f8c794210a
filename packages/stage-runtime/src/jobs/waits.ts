/** Jobs that are not ready before a time of the server's clock, so that they need not be looked at before. */
import type { JobId } from "@sluice/queue-core";

/** An operator may shorten a wait: it is looked at again after so long in any case. */
const TRUSTED_MS = 30_000;

export class Waits {
  readonly #untilMs = new Map<JobId, number>();

  note(id: JobId, readyAtMs: number, nowMs: number): void {
    this.#untilMs.set(id, Math.min(readyAtMs, nowMs + TRUSTED_MS));
  }

  waits(id: JobId, nowMs: number): boolean {
    const untilMs = this.#untilMs.get(id);
    if (untilMs === undefined) return false;
    if (untilMs > nowMs) return true;
    this.#untilMs.delete(id);
    return false;
  }

  /** When the first of them is to be looked at again; null when there is none. */
  nextAtMs(): number | null {
    let next: number | null = null;
    for (const atMs of this.#untilMs.values()) next = next === null ? atMs : Math.min(next, atMs);
    return next;
  }

  keepOnly(present: ReadonlySet<JobId>): void {
    for (const id of this.#untilMs.keys()) if (!present.has(id)) this.#untilMs.delete(id);
  }
}
