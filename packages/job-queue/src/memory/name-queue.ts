import { Heap } from "./heap.ts";
import { better, type Slot, sooner } from "./slots.ts";

/** Who looks at a queue, and at which. */
export interface Seat {
  readonly view: View;
}

/** Something that follows the first job of many queues. */
export interface View {
  refresh(seat: Seat): void;
  leave(seat: Seat): void;
}

/** The due jobs of one name. */
export class NameQueue {
  readonly name: string;
  /** In the views that it belongs to. */
  readonly seats = new Set<Seat>();
  readonly #heaps = new Map<number, Heap<Slot>>();
  size = 0;

  constructor(name: string) {
    this.name = name;
  }

  add(slot: Slot): void {
    let heap = this.#heaps.get(slot.priority);
    if (heap === undefined) this.#heaps.set(slot.priority, (heap = new Heap(sooner)));
    heap.add(slot);
    slot.heap = heap;
    this.size += 1;
    this.#changed();
  }

  remove(slot: Slot): void {
    slot.heap?.remove(slot);
    this.size -= 1;
    this.#changed();
  }

  oldestDue(): number {
    let oldest = Infinity;
    for (const heap of this.#heaps.values()) oldest = Math.min(oldest, heap.first()?.nextRun ?? Infinity);
    return oldest;
  }

  first(priority: number | null): Slot | null {
    if (priority !== null) return this.#heaps.get(priority)?.first() ?? null;
    let best: Slot | null = null;
    for (const heap of this.#heaps.values()) best = better(best, heap.first());
    return best;
  }

  #changed(): void {
    for (const seat of this.seats) seat.view.refresh(seat);
  }
}
