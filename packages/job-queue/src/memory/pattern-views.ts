/**
 * Where many names are present, looking at each for every pick is slow. So the patterns that were asked for last have a
 * heap of the names that match, ordered by the first job of each.
 */
import type { Glob } from "../glob.ts";
import { Heap, type Placed } from "./heap.ts";
import type { NameQueue, Seat, View } from "./name-queue.ts";
import { before, type Slot } from "./slots.ts";

/** One name in one pattern's heap. */
interface PatternSeat extends Seat, Placed {
  readonly queue: NameQueue;
  /** The first job of the name, if it has one of the priority; the seat is outside of the heap while it has none. */
  head: Slot | null;
}

export class PatternView implements View {
  readonly #matches: Glob;
  readonly #priority: number | null;
  readonly #seats = new Heap<PatternSeat>((a, b) => a.head !== null && b.head !== null && before(a.head, b.head));
  readonly #all = new Map<Seat, PatternSeat>();

  constructor(matches: Glob, priority: number | null) {
    this.#matches = matches;
    this.#priority = priority;
  }

  best(): Slot | null {
    return this.#seats.first()?.head ?? null;
  }

  consider(queue: NameQueue): void {
    if (!this.#matches(queue.name)) return;
    const seat: PatternSeat = { at: -1, queue, view: this, head: null };
    queue.seats.add(seat);
    this.#all.set(seat, seat);
    this.refresh(seat);
  }

  refresh(of: Seat): void {
    const seat = this.#all.get(of);
    if (seat === undefined) return;
    const head = seat.queue.first(this.#priority);
    if (head === seat.head) return;
    if (seat.head !== null) this.#seats.remove(seat);
    seat.head = head;
    if (head !== null) this.#seats.add(seat);
  }

  leave(of: Seat): void {
    const seat = this.#all.get(of);
    if (seat?.head != null) this.#seats.remove(seat);
    this.#all.delete(of);
  }

  close(): void {
    for (const seat of this.#all.values()) seat.queue.seats.delete(seat);
  }
}

/** The views over the names of one tenant and world. */
export class PatternViews {
  readonly #views = new Map<string, PatternView>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** The one for this pattern, made if need be; the one that was not asked for longest goes. */
  get(pattern: string, matches: Glob, priority: number | null, queues: Iterable<NameQueue>): PatternView {
    const key = `${priority ?? ""}/${pattern}`;
    let view = this.#views.get(key);
    if (view === undefined) {
      view = new PatternView(matches, priority);
      for (const queue of queues) view.consider(queue);
    } else this.#views.delete(key);
    this.#views.set(key, view);
    if (this.#views.size > this.#most) this.#dropOldest();
    return view;
  }

  join(queue: NameQueue): void {
    for (const view of this.#views.values()) view.consider(queue);
  }

  leave(queue: NameQueue): void {
    for (const seat of queue.seats) seat.view.leave(seat);
    queue.seats.clear();
  }

  #dropOldest(): void {
    for (const [key, view] of this.#views) {
      this.#views.delete(key);
      view.close();
      return;
    }
  }
}
