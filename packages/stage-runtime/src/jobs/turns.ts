/**
 * What waits, in tiers that are taken one after the other; within a tier the collections take turns, and each keeps its own
 * order. So a collection with thousands of jobs does not delay the one job of another. Pure.
 */
import { Tier, type TierOf } from "./tier.ts";

export interface TurnsView<T> {
  /** undefined: not known yet. */
  readonly collectionOf: (item: T) => string | undefined;
  /** How much of a collection is in hand now: who has less is next. */
  readonly inHand: (collection: string) => number;
}

/** Who of those that have equally much in hand had a turn longest ago. Outlives the lists. */
export class LastTurns {
  readonly #turns = new Map<string, number>();
  #count = 0;

  of(collection: string): number {
    return this.#turns.get(collection) ?? -1;
  }

  note(collection: string): void {
    this.#turns.set(collection, this.#count++);
  }
}

export class Turns<T> {
  readonly #view: TurnsView<T>;
  readonly #last: LastTurns;
  readonly #tiers: readonly Tier<T>[];
  /** They were taken, and come first again. */
  #front: T[] = [];
  #left: number;

  constructor(tiers: readonly TierOf<T>[], view: TurnsView<T>, last: LastTurns) {
    this.#view = view;
    this.#last = last;
    this.#tiers = tiers.map((tier) => new Tier(tier, view.collectionOf));
    this.#left = tiers.reduce((sum, { items }) => sum + items.length, 0);
  }

  get size(): number {
    return this.#front.length + this.#left;
  }

  /** The first ones of which it should be known whose they are. */
  unknown(count: number): readonly T[] {
    const found: T[] = [];
    for (const tier of this.#tiers) {
      if (found.length >= count) break;
      for (const each of tier.unknown(count - found.length, this.#view.collectionOf)) found.push(each);
    }
    return found;
  }

  learned(): void {
    for (const tier of this.#tiers) tier.sortInKnown(this.#view.collectionOf);
  }

  putBack(items: readonly T[]): void {
    this.#front = [...items, ...this.#front];
  }

  /** Up to `count`; with `except` only those that are known to be another collection's. */
  take(count: number, isOpen: (item: T) => boolean, except?: string): readonly T[] {
    const taken: T[] = [];
    const more = new Map<string, number>();
    const next = (): T | undefined => this.#takeFront(except) ?? this.#takeNext(more, except);
    while (taken.length < count) {
      const item = next();
      if (item === undefined) break;
      if (!isOpen(item)) continue;
      const collection = this.#view.collectionOf(item);
      if (collection !== undefined) {
        more.set(collection, (more.get(collection) ?? 0) + 1);
        this.#last.note(collection);
      }
      taken.push(item);
    }
    return taken;
  }

  #takeFront(except?: string): T | undefined {
    const at = this.#front.findIndex((item) => except === undefined || this.#isAnothers(item, except));
    return at === -1 ? undefined : this.#front.splice(at, 1)[0];
  }

  #isAnothers(item: T, except: string): boolean {
    const collection = this.#view.collectionOf(item);
    return collection !== undefined && collection !== except;
  }

  #takeNext(more: ReadonlyMap<string, number>, except?: string): T | undefined {
    const weigh = (collection: string): readonly [number, number] => [
      this.#view.inHand(collection) + (more.get(collection) ?? 0),
      this.#last.of(collection),
    ];
    for (const tier of this.#tiers) {
      const item = tier.isEmpty ? undefined : tier.take(weigh, except);
      if (item === undefined) continue;
      this.#left -= 1;
      return item;
    }
    return undefined;
  }
}
