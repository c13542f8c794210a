/** Items of equal rank, in which collections take turns. An item is known by its place; whose it is may not be known yet. */

export interface TierOf<T> {
  readonly items: readonly T[];
  /** False: its items are taken as they come, and whose they are is not asked. */
  readonly takesTurns: boolean;
}

/** Who is lighter is next; of two that weigh the same first who had no turn for longer. */
export type Weight = readonly [inHand: number, lastTurn: number];

/** The places of one collection's items, in order. */
interface Lane {
  readonly places: number[];
  next: number;
  /** Begun by an item that stands behind others of which nothing is known. */
  readonly isFoundAhead: boolean;
}

/**
 * Sorted into lanes, one for each collection, is what stands before the first item of which nothing is known. What is known
 * behind that is sorted in too if its collection has no lane yet: a collection is found in the midst of another's thousands,
 * and nobody's order is turned round. Unknown items are taken for those of the collection that stands before them.
 */
export class Tier<T> {
  readonly takesTurns: boolean;
  readonly #items: readonly T[];
  readonly #lanes = new Map<string, Lane>();
  readonly #sortedAhead = new Set<number>();
  /** The first place that is not sorted in. */
  #front = 0;
  #neighbour: string | null = null;

  constructor({ items, takesTurns }: TierOf<T>, collectionOf: (item: T) => string | undefined) {
    this.takesTurns = takesTurns;
    this.#items = items;
    if (takesTurns) this.sortInKnown(collectionOf);
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0 && this.#front >= this.#items.length;
  }

  /** Of which should be known whose they are: half of them the next ones, the others spread over all that follow. */
  unknown(count: number, collectionOf: (item: T) => string | undefined): readonly T[] {
    if (!this.takesTurns) return [];
    const left = this.#items.length - this.#front;
    if (left <= count) return this.#unknownFrom(1, left, collectionOf);
    const next = this.#unknownFrom(1, Math.ceil(count / 2), collectionOf);
    const spread = this.#unknownFrom(Math.ceil(left / (count / 2)), Math.floor(count / 2), collectionOf);
    return [...new Set([...next, ...spread])];
  }

  /** Up to `count`, looking at every `step`th place. */
  #unknownFrom(step: number, count: number, collectionOf: (item: T) => string | undefined): readonly T[] {
    const found: T[] = [];
    for (let at = this.#front; at < this.#items.length && found.length < count; at += step) {
      const item = this.#items[at];
      if (item !== undefined && collectionOf(item) === undefined) found.push(item);
    }
    return found;
  }

  sortInKnown(collectionOf: (item: T) => string | undefined): void {
    for (; this.#front < this.#items.length; this.#front++) {
      const collection = this.#collectionAt(this.#front, collectionOf);
      if (collection === undefined) break;
      this.#neighbour = collection;
      if (!this.#sortedAhead.delete(this.#front)) this.#sortIn(this.#front, collection, false);
    }
    for (let at = this.#front + 1; at < this.#items.length; at++) {
      const collection = this.#collectionAt(at, collectionOf);
      if (collection === undefined || this.#sortedAhead.has(at)) continue;
      if (this.#lanes.get(collection)?.isFoundAhead === false || collection === this.#neighbour) continue;
      this.#sortIn(at, collection, true);
      this.#sortedAhead.add(at);
    }
  }

  /** Of the collection that is lightest. */
  take(weigh: (collection: string) => Weight, except?: string): T | undefined {
    if (!this.takesTurns) return except === undefined ? this.#items[this.#front++] : undefined;
    const collection = this.#lightest(weigh, except);
    if (collection !== undefined && this.#lanes.has(collection)) return this.#takeOf(collection);
    return except === undefined ? this.#takeUnknown() : undefined;
  }

  #lightest(weigh: (collection: string) => Weight, except?: string): string | undefined {
    let best: string | undefined;
    let least: Weight = [Infinity, Infinity];
    const consider = (collection: string): void => {
      if (collection === except) return;
      const weight = weigh(collection);
      if (weight[0] < least[0] || (weight[0] === least[0] && weight[1] < least[1]))
        [best, least] = [collection, weight];
    };
    for (const collection of this.#lanes.keys()) consider(collection);
    if (except === undefined && this.#neighbour !== null && this.#front < this.#items.length) consider(this.#neighbour);
    return best;
  }

  #takeOf(collection: string): T | undefined {
    const lane = this.#lanes.get(collection);
    const place = lane?.places[lane.next];
    if (lane !== undefined && ++lane.next >= lane.places.length) this.#lanes.delete(collection);
    return place === undefined ? undefined : this.#items[place];
  }

  #takeUnknown(): T | undefined {
    while (this.#sortedAhead.delete(this.#front)) this.#front += 1;
    return this.#items[this.#front++];
  }

  #collectionAt(place: number, collectionOf: (item: T) => string | undefined): string | undefined {
    const item = this.#items[place];
    return item === undefined ? undefined : collectionOf(item);
  }

  #sortIn(place: number, collection: string, isFoundAhead: boolean): void {
    const lane = this.#lanes.get(collection);
    if (lane === undefined) this.#lanes.set(collection, { places: [place], next: 0, isFoundAhead });
    else insert(lane, place);
  }
}

/** Almost always at the end; one that became known late goes where it belongs. */
function insert(lane: Lane, place: number): void {
  let at = lane.places.length;
  for (let before = lane.places[at - 1]; at > lane.next && before !== undefined && before > place;) {
    at -= 1;
    before = lane.places[at - 1];
  }
  lane.places.splice(at, 0, place);
}
