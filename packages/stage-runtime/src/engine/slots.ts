/** How much is in hand at most; who gives a place back wakes the loop. */
export class Slots {
  readonly #size: () => number;
  readonly #onFree: () => void;
  #used = 0;

  constructor(size: () => number, onFree: () => void) {
    this.#size = size;
    this.#onFree = onFree;
  }

  get free(): number {
    return Math.max(0, this.#size() - this.#used);
  }

  take(count: number): void {
    this.#used += count;
  }

  give(count = 1): void {
    this.#used -= count;
    if (count > 0) this.#onFree();
  }
}
