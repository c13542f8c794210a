import { type BitReader, Bzip2Error } from "./bits.ts";

export const MAX_CODE_BITS = 20;
/** Codes up to this length are found by one look into a table. */
const SHORT_BITS = 10;

/** A canonical Huffman code, as its code lengths define it. */
export class PrefixCode {
  /** By the next SHORT_BITS bits: symbol and length of the code that they begin with, 0 if it is longer. */
  readonly #short = new Uint16Array(1 << SHORT_BITS);
  /** By length: the first value of MAX_CODE_BITS bits that belongs to a longer code. */
  readonly #limit = new Int32Array(MAX_CODE_BITS + 1);
  /** By length: what leads from a code to its place among the symbols. */
  readonly #offset = new Int32Array(MAX_CODE_BITS + 1);
  readonly #symbols: Uint16Array;

  constructor(lengths: Uint8Array) {
    this.#symbols = Uint16Array.from(lengths.keys()).sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0) || a - b);
    let code = 0;
    let place = 0;
    for (let length = 1; length <= MAX_CODE_BITS; length += 1) {
      this.#offset[length] = place - code;
      for (; lengths[this.#symbols[place] ?? lengths.length] === length; place += 1, code += 1) {
        this.#enter(code, length, this.#symbols[place] ?? 0);
      }
      this.#limit[length] = code << (MAX_CODE_BITS - length);
      code <<= 1;
    }
  }

  #enter(code: number, length: number, symbol: number): void {
    if (length > SHORT_BITS) return;
    const from = code << (SHORT_BITS - length);
    // A code that claims more than there is room for reaches behind the table, where it is never found.
    this.#short.fill((symbol << 4) | length, from, from + (1 << (SHORT_BITS - length)));
  }

  read(bits: BitReader): number {
    const next = bits.peek(MAX_CODE_BITS);
    const short = this.#short[next >>> (MAX_CODE_BITS - SHORT_BITS)] ?? 0;
    if (short !== 0) {
      bits.skip(short & 15);
      return short >>> 4;
    }
    for (let length = SHORT_BITS + 1; length <= MAX_CODE_BITS; length += 1) {
      if (next >= (this.#limit[length] ?? 0)) continue;
      bits.skip(length);
      return this.#symbols[(next >>> (MAX_CODE_BITS - length)) + (this.#offset[length] ?? 0)] ?? 0;
    }
    throw new Bzip2Error("it has a code without a meaning");
  }
}
