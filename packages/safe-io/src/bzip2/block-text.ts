import { Bzip2Error } from "./bits.ts";

/** After so many equal bytes follows how many more there are. */
const EQUAL_BEFORE_COUNT = 4;

/** Walks through a block's text, in pieces. */
export class BlockText {
  /** By place in the sorted rotations: the next place, and in the low byte the value. */
  readonly #links: Uint32Array;
  #place: number;
  #left: number;
  #equal = 0;
  #last = -1;
  #owed = 0;

  /** `column`: the last column of the sorted rotations; becomes ours. */
  constructor(column: Uint32Array, length: number, origin: number) {
    if (origin >= length) throw new Bzip2Error("a block begins outside of itself");
    link(column, length);
    this.#links = column;
    this.#left = length;
    this.#place = (column[origin] ?? 0) >>> 8;
  }

  /** Fills the piece as far as there is text, and says how far that was. */
  fill(piece: Uint8Array): number {
    const links = this.#links;
    let [place, left, equal, last, owed] = [this.#place, this.#left, this.#equal, this.#last, this.#owed];
    let filled = 0;
    while (filled < piece.length && (owed > 0 || left > 0)) {
      if (owed > 0) {
        const more = Math.min(owed, piece.length - filled);
        piece.fill(last, filled, filled + more);
        filled += more;
        owed -= more;
        continue;
      }
      const entry = links[place] ?? 0;
      place = entry >>> 8;
      left -= 1;
      const value = entry & 0xff;
      if (equal === EQUAL_BEFORE_COUNT) {
        owed = value;
        equal = 0;
        continue;
      }
      equal = value === last || equal === 0 ? equal + 1 : 1;
      last = value;
      piece[filled] = value;
      filled += 1;
    }
    [this.#place, this.#left, this.#equal, this.#last, this.#owed] = [place, left, equal, last, owed];
    return filled;
  }
}

/** The n-th occurrence of a value in the last column is its n-th in the first: that leads from each to the one behind it. */
function link(column: Uint32Array, length: number): void {
  const next = new Uint32Array(256);
  for (let i = 0; i < length; i += 1) next[column[i] ?? 0] = (next[column[i] ?? 0] ?? 0) + 1;
  let sum = 0;
  for (let value = 0; value < 256; value += 1) {
    const count = next[value] ?? 0;
    next[value] = sum;
    sum += count;
  }
  for (let i = 0; i < length; i += 1) {
    const value = (column[i] ?? 0) & 0xff;
    const place = next[value] ?? 0;
    next[value] = place + 1;
    column[place] = ((column[place] ?? 0) | (i << 8)) >>> 0;
  }
}
