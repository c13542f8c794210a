/** Callers that wait for a job, first come, first served. One job wakes one of them. */
import { matchesName } from "../names.ts";
import { Heap, type Placed } from "./heap.ts";
import type { Wanted } from "./ready-index.ts";

export interface Waiter<T> extends Placed {
  readonly wanted: Wanted;
  readonly deadline: number;
  readonly value: T;
}

/** What came up. */
export interface Offered {
  readonly tenant: string;
  readonly name: string;
  readonly mock: boolean;
  readonly priority: number;
}

export class Waiters<T> {
  readonly #byTenant = new Map<string, Set<Waiter<T>>>();
  readonly #byDeadline = new Heap<Waiter<T>>((a, b) => a.deadline < b.deadline);

  get size(): number {
    return this.#byDeadline.size;
  }

  add(wanted: Wanted, deadline: number, value: T): Waiter<T> {
    const waiter: Waiter<T> = { at: -1, wanted, deadline, value };
    this.#byDeadline.add(waiter);
    const line = this.#byTenant.get(wanted.tenant) ?? new Set();
    this.#byTenant.set(wanted.tenant, line.add(waiter));
    return waiter;
  }

  remove(waiter: Waiter<T>): void {
    const line = this.#byTenant.get(waiter.wanted.tenant);
    if (line?.delete(waiter) !== true) return;
    if (line.size === 0) this.#byTenant.delete(waiter.wanted.tenant);
    this.#byDeadline.remove(waiter);
  }

  /** Who has waited longest for such a job. */
  firstFor(offered: Offered): Waiter<T> | null {
    for (const waiter of this.#byTenant.get(offered.tenant) ?? []) if (wants(waiter.wanted, offered)) return waiter;
    return null;
  }

  nextDeadline(): number | null {
    return this.#byDeadline.first()?.deadline ?? null;
  }

  /** Those whose time is over; they wait no longer. */
  expire(now: number): readonly Waiter<T>[] {
    const over: Waiter<T>[] = [];
    for (let head = this.#byDeadline.first(); head !== null && head.deadline <= now; head = this.#byDeadline.first()) {
      this.remove(head);
      over.push(head);
    }
    return over;
  }

  all(): readonly Waiter<T>[] {
    return [...this.#byTenant.values()].flatMap((line) => [...line]);
  }
}

const wants = (wanted: Wanted, offered: Offered): boolean =>
  (wanted.mocked || !offered.mock) &&
  (wanted.priority === null || wanted.priority === offered.priority) &&
  matchesName(wanted.names, offered.name);
