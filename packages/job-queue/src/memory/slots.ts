import type { Heap, Placed } from "./heap.ts";

/** The place of one job in the order of the queue. */
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

export const sooner = (a: Slot, b: Slot): boolean => a.nextRun < b.nextRun || (a.nextRun === b.nextRun && a.id < b.id);
/** The order of the queue: priority, then time, then id. */
export const before = (a: Slot, b: Slot): boolean =>
  a.priority === b.priority ? sooner(a, b) : a.priority > b.priority;
export const better = (a: Slot | null, b: Slot | null): Slot | null =>
  a === null || (b !== null && before(b, a)) ? b : a;
