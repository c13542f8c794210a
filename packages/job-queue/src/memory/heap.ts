/** Something that may stand in one heap at a time and knows where, so that it can be taken out of the middle. */
export interface Placed {
  /** -1 while it stands in none. */
  at: number;
}

export class Heap<T extends Placed> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  first(): T | null {
    return this.#items[0] ?? null;
  }

  add(item: T): void {
    item.at = this.#items.length;
    this.#items.push(item);
    this.#up(item);
  }

  remove(item: T): void {
    const { at } = item;
    const last = this.#items.pop();
    item.at = -1;
    if (last === undefined || last === item) return;
    this.#put(last, at);
    this.#up(last);
    this.#down(last);
  }

  /** Those that fit, if whatever comes before one that fits does too; in no order. */
  *below(fits: (item: T) => boolean, at = 0): Iterable<T> {
    const item = this.#items[at];
    if (item === undefined || !fits(item)) return;
    yield item;
    yield* this.below(fits, 2 * at + 1);
    yield* this.below(fits, 2 * at + 2);
  }

  #put(item: T, at: number): void {
    this.#items[at] = item;
    item.at = at;
  }

  #up(item: T): void {
    for (let at = item.at; at > 0;) {
      const above = (at - 1) >> 1;
      const other = this.#items[above];
      if (other === undefined || !this.#before(item, other)) return;
      this.#put(other, at);
      this.#put(item, above);
      at = above;
    }
  }

  #down(item: T): void {
    for (;;) {
      const child = this.#firstBelow(item.at);
      if (child === null || !this.#before(child, item)) return;
      const { at } = child;
      this.#put(child, item.at);
      this.#put(item, at);
    }
  }

  #firstBelow(at: number): T | null {
    const left = this.#items[2 * at + 1];
    const right = this.#items[2 * at + 2];
    if (left === undefined || right === undefined) return left ?? null;
    return this.#before(right, left) ? right : left;
  }
}
