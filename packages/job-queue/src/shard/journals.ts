/** What the shard knows of processes that accept jobs in journals of their own: how far each was taken in, and its blocks of ids. */
import type { Guest } from "../records.ts";
import type { Change } from "./changes.ts";

export interface LoadedJournals {
  readonly guests: ReadonlyMap<string, Guest>;
  /** Journals whose records cannot be read. */
  readonly brokenGuests: ReadonlySet<string>;
  /** Blocks below it were given before the tree was restored; 0 unless said. */
  readonly floor?: number;
}

export class Journals {
  readonly #guests: Map<string, Guest>;
  readonly #broken: ReadonlySet<string>;
  readonly #floor: number;
  readonly #note: (change: Change) => void;

  constructor({ guests, brokenGuests, floor = 0 }: LoadedJournals, note: (change: Change) => void) {
    this.#guests = new Map(guests);
    this.#broken = brokenGuests;
    this.#floor = floor;
    this.#note = note;
  }

  of(name: string): Guest | null {
    return this.#guests.get(name) ?? null;
  }

  put(name: string, guest: Guest): void {
    this.#guests.set(name, guest);
    this.#note({ kind: "guest", name, guest });
  }

  isBroken(name: string): boolean {
    return this.#broken.has(name);
  }

  /**
   * Given before the tree was restored, and nobody's that we know: what the tree knew of its journal was lost. Blocks are given
   * once, so it is of whoever shows ids of it.
   */
  isForgotten(block: number): boolean {
    return block < this.#floor && ![...this.#guests.values()].some(({ blocks }) => blocks.includes(block));
  }
}
