/**
 * Cancelled jobs without a parent. Nobody else sees their end, so they are shown for a while and then go, like a job that
 * has finished. A cancelled child stays until its parent has been told.
 */
import { CANCELLED_KEPT, CANCELLED_KEPT_MS } from "../limits.ts";
import { Heap, type Placed } from "../memory/heap.ts";
import type { Job } from "../records.ts";

interface Slot extends Placed {
  readonly id: number;
  readonly since: number;
}

export const isCancelledAlone = ({ state, parent }: Pick<Job, "state" | "parent">): boolean =>
  state === "CANCELLED" && parent === undefined;

export class Cancelled {
  readonly #slots = new Map<number, Slot>();
  readonly #oldestFirst = new Heap<Slot>((a, b) => a.since < b.since || (a.since === b.since && a.id < b.id));

  /** `job` as it is now; a job that is not one of them is none of them any more. */
  note(id: number, job: Job): void {
    const isIn = this.#slots.has(id);
    if (isCancelledAlone(job) === isIn) return;
    if (isIn) this.forget(id);
    else {
      const slot: Slot = { at: -1, id, since: job.ev.at(-1)?.[0] ?? job.created };
      this.#slots.set(id, slot);
      this.#oldestFirst.add(slot);
    }
  }

  forget(id: number): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    this.#oldestFirst.remove(slot);
  }

  /** The oldest that goes now: it was shown long enough, or there are too many. */
  nextToGo(now: number): number | null {
    const oldest = this.#oldestFirst.first();
    if (oldest === null) return null;
    return this.#slots.size > CANCELLED_KEPT || oldest.since + CANCELLED_KEPT_MS <= now ? oldest.id : null;
  }

  /** When the next one goes by itself. */
  nextMoment(): number | null {
    const oldest = this.#oldestFirst.first();
    return oldest === null ? null : oldest.since + CANCELLED_KEPT_MS;
  }
}
