/**
 * The types of one tenant in the order of their turns, kept as jobs come and go: who serves many types looks at the first of
 * them, and not at all.
 */
import { Heap, type Placed } from "./heap.ts";
import type { NameQueue, Seat, View } from "./name-queue.ts";
import { Ring } from "./ring.ts";
import { type Slot, sooner } from "./slots.ts";

interface TurnSeat extends Seat, Placed {
  readonly queue: NameQueue;
  head: Slot | null;
}

export class Turns implements View {
  readonly #ring = new Ring<NameQueue>();
  readonly #seats = new Map<Seat, TurnSeat>();
  /** By how long the first job of each has been due. */
  readonly #oldest = new Heap<TurnSeat>((a, b) => a.head !== null && b.head !== null && sooner(a.head, b.head));

  join(queue: NameQueue): void {
    const seat: TurnSeat = { at: -1, queue, view: this, head: null };
    this.#seats.set(seat, seat);
    queue.seats.add(seat);
    this.refresh(seat);
  }

  refresh(of: Seat): void {
    const seat = this.#seats.get(of);
    if (seat === undefined) return;
    const { queue, head: old } = seat;
    const head = queue.first(null);
    if (head === old) return;
    // Its first job has left: that was its turn.
    if (old !== null && (head?.priority !== old.priority || old.at < 0)) this.#ring.remove(old.priority, queue.name);
    if (old !== null) this.#oldest.remove(seat);
    seat.head = head;
    if (head === null) return;
    this.#oldest.add(seat);
    this.#ring.set(head.priority, queue.name, queue);
  }

  leave(of: Seat): void {
    const seat = this.#seats.get(of);
    if (seat?.head != null) {
      this.#oldest.remove(seat);
      this.#ring.remove(seat.head.priority, seat.queue.name);
    }
    this.#seats.delete(of);
  }

  /** First those whose first job is due since before this moment, then the others. Some may come twice. */
  *next(agedBefore: number): Iterable<NameQueue> {
    for (const { queue } of this.#oldest.below(({ head }) => head !== null && head.nextRun < agedBefore)) yield queue;
    yield* this.#ring.all();
  }
}
