/**
 * What waits, in tiers that are taken one after the other; within a tier the collections take turns, and each keeps its own
 * order. So a collection with thousands of jobs does not delay the one job of another. Pure.
 */

export interface TierOf<T> {
  readonly items: readonly T[];
  /** False: its items are taken as they come, and whose they are is not asked. */
  readonly takesTurns: boolean;
}

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

interface Placed<T> {
  readonly item: T;
  /** Its place in the tier. */
  readonly at: number;
}

interface Lane<T> {
  readonly placed: Placed<T>[];
  next: number;
}

class Tier<T> {
  readonly takesTurns: boolean;
  readonly #lanes = new Map<string, Lane<T>>();
  /** Whose they are is not known; in their order. */
  #unsorted: readonly Placed<T>[];
  #nextUnsorted = 0;

  constructor({ items, takesTurns }: TierOf<T>, collectionOf: (item: T) => string | undefined) {
    this.takesTurns = takesTurns;
    this.#unsorted = items.map((item, at) => ({ item, at }));
    if (!takesTurns) return;
    const unknown = this.#unsorted.filter((placed) => !this.#sortIn(placed, collectionOf));
    this.#unsorted = unknown;
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0 && this.#nextUnsorted >= this.#unsorted.length;
  }

  unknown(count: number): readonly T[] {
    return this.takesTurns
      ? this.#unsorted.slice(this.#nextUnsorted, this.#nextUnsorted + count).map(({ item }) => item)
      : [];
  }

  /** They become known in their order: after the first unknown one there is none to sort in. */
  sortInKnown(collectionOf: (item: T) => string | undefined): void {
    for (let next = this.#unsorted[this.#nextUnsorted]; next !== undefined; next = this.#unsorted[this.#nextUnsorted]) {
      if (!this.#sortIn(next, collectionOf)) return;
      this.#nextUnsorted += 1;
    }
  }

  /** Of the collection that has least, or, when none is known, the next of all. */
  take(weigh: (collection: string) => readonly [number, number], except?: string): T | undefined {
    const collection = this.#lightest(weigh, except);
    if (collection !== undefined) return this.#takeOf(collection);
    return except === undefined ? this.#unsorted[this.#nextUnsorted++]?.item : undefined;
  }

  #lightest(weigh: (collection: string) => readonly [number, number], except?: string): string | undefined {
    let best: string | undefined;
    let least: readonly [number, number] = [Infinity, Infinity];
    for (const collection of this.#lanes.keys()) {
      if (collection === except) continue;
      const weight = weigh(collection);
      if (weight[0] < least[0] || (weight[0] === least[0] && weight[1] < least[1]))
        [best, least] = [collection, weight];
    }
    return best;
  }

  #takeOf(collection: string): T | undefined {
    const lane = this.#lanes.get(collection);
    const placed = lane?.placed[lane.next];
    if (lane !== undefined && ++lane.next >= lane.placed.length) this.#lanes.delete(collection);
    return placed?.item;
  }

  #sortIn(placed: Placed<T>, collectionOf: (item: T) => string | undefined): boolean {
    const collection = collectionOf(placed.item);
    if (collection === undefined) return false;
    const lane = this.#lanes.get(collection);
    if (lane === undefined) this.#lanes.set(collection, { placed: [placed], next: 0 });
    else insert(lane, placed);
    return true;
  }
}

/** Almost always at the end; one that became known late goes where it belongs. */
function insert<T>(lane: Lane<T>, placed: Placed<T>): void {
  let at = lane.placed.length;
  for (let before = lane.placed[at - 1]; at > lane.next && before !== undefined && before.at > placed.at;) {
    at -= 1;
    before = lane.placed[at - 1];
  }
  lane.placed.splice(at, 0, placed);
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
      for (const each of tier.unknown(count - found.length)) found.push(each);
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
