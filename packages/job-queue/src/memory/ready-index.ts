/**
 * Which job comes next. Jobs that are due stand in a heap for each tenant, world (real or mocked), name and priority;
 * those whose time has not come stand in one heap, so that the next moment at which anything happens is its head.
 */
import { matchesName, type NameMatch } from "../names.ts";
import { Heap, type Placed } from "./heap.ts";

export interface Slot extends Placed {
  readonly id: number;
  readonly tenant: string;
  readonly name: string;
  readonly mock: boolean;
  readonly priority: number;
  readonly nextRun: number;
  /** Set by the index. */
  heap: Heap<Slot> | null;
}

export interface Wanted {
  readonly tenant: string;
  readonly names: NameMatch;
  /** Only this one; null for all. */
  readonly priority: number | null;
  /** Mocked jobs too. */
  readonly mocked: boolean;
}

/** A type of which jobs could run now. */
export interface WaitingType {
  readonly tenant: string;
  readonly name: string;
  readonly count: number;
  /** Of its first job. */
  readonly priority: number;
  readonly since: number;
}

const sooner = (a: Slot, b: Slot): boolean => a.nextRun < b.nextRun || (a.nextRun === b.nextRun && a.id < b.id);
/** The order of the queue: priority, then time, then id. */
const before = (a: Slot, b: Slot): boolean => (a.priority === b.priority ? sooner(a, b) : a.priority > b.priority);

/** The due jobs of one name. */
class NameQueue {
  readonly #heaps = new Map<number, Heap<Slot>>();
  size = 0;

  add(slot: Slot): void {
    let heap = this.#heaps.get(slot.priority);
    if (heap === undefined) this.#heaps.set(slot.priority, (heap = new Heap(sooner)));
    heap.add(slot);
    slot.heap = heap;
    this.size += 1;
  }

  remove(slot: Slot): void {
    slot.heap?.remove(slot);
    this.size -= 1;
  }

  oldestDue(): number {
    return Math.min(...[...this.#heaps.values()].map((heap) => heap.first()?.nextRun ?? Infinity));
  }

  first(priority: number | null): Slot | null {
    if (priority !== null) return this.#heaps.get(priority)?.first() ?? null;
    let best: Slot | null = null;
    for (const heap of this.#heaps.values()) best = better(best, heap.first());
    return best;
  }
}

const better = (a: Slot | null, b: Slot | null): Slot | null => (a === null || (b !== null && before(b, a)) ? b : a);

type Names = Map<string, NameQueue>;

export class ReadyIndex {
  readonly #worlds = { real: new Map<string, Names>(), mocked: new Map<string, Names>() };
  readonly #future = new Heap<Slot>(sooner);

  /** True if it is due. */
  add(slot: Slot, now: number): boolean {
    if (slot.nextRun > now) {
      this.#future.add(slot);
      slot.heap = this.#future;
      return false;
    }
    const tenants = slot.mock ? this.#worlds.mocked : this.#worlds.real;
    let names = tenants.get(slot.tenant);
    if (names === undefined) tenants.set(slot.tenant, (names = new Map<string, NameQueue>()));
    let queue = names.get(slot.name);
    if (queue === undefined) names.set(slot.name, (queue = new NameQueue()));
    queue.add(slot);
    return true;
  }

  remove(slot: Slot): void {
    if (slot.heap === this.#future) this.#future.remove(slot);
    else if (slot.heap !== null) this.#removeDue(slot);
    slot.heap = null;
  }

  /** What has become due since. */
  promote(now: number): readonly Slot[] {
    const due: Slot[] = [];
    for (let head = this.#future.first(); head !== null && head.nextRun <= now; head = this.#future.first()) {
      this.remove(head);
      this.add(head, now);
      due.push(head);
    }
    return due;
  }

  nextDue(): number | null {
    return this.#future.first()?.nextRun ?? null;
  }

  /** The first of the due jobs that are wanted. */
  best({ tenant, names, priority, mocked }: Wanted): Slot | null {
    const real = this.#bestIn(this.#worlds.real.get(tenant), names, priority);
    return mocked ? better(real, this.#bestIn(this.#worlds.mocked.get(tenant), names, priority)) : real;
  }

  /** The due jobs of one type: how many, and since when the oldest is due. */
  readyOf(tenant: string, name: string): { readonly ready: number; readonly oldestDue: number | null } {
    const queue = this.#worlds.real.get(tenant)?.get(name);
    return { ready: queue?.size ?? 0, oldestDue: queue?.oldestDue() ?? null };
  }

  /** Types with due jobs. Mocked ones are for nobody who does not ask for them by name. */
  waitingTypes(): readonly WaitingType[] {
    const types: WaitingType[] = [];
    for (const [tenant, names] of this.#worlds.real) {
      for (const [name, queue] of names) {
        const first = queue.first(null);
        if (first !== null)
          types.push({ tenant, name, count: queue.size, priority: first.priority, since: first.nextRun });
      }
    }
    return types;
  }

  #bestIn(names: Names | undefined, match: NameMatch, priority: number | null): Slot | null {
    let best: Slot | null = null;
    if (names === undefined) return best;
    if (match.kind === "names") {
      for (const name of match.names) best = better(best, names.get(name)?.first(priority) ?? null);
    } else {
      for (const [name, queue] of names) if (matchesName(match, name)) best = better(best, queue.first(priority));
    }
    return best;
  }

  #removeDue(slot: Slot): void {
    const tenants = slot.mock ? this.#worlds.mocked : this.#worlds.real;
    const names = tenants.get(slot.tenant);
    const queue = names?.get(slot.name);
    queue?.remove(slot);
    if (queue?.size === 0) names?.delete(slot.name);
    if (names?.size === 0) tenants.delete(slot.tenant);
  }
}
