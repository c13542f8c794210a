import { type BitReader, Bzip2Error } from "./bits.ts";
import { type BlockHeader, GROUP_SYMBOLS } from "./block-header.ts";

/** Two symbols write the length of a run of the most recent value, in digits 1 and 2 to the base of 2. */
const RUN_SYMBOLS = 2;

/** Turns the symbols of a block into the last column of its sorted rotations, some groups at a time. */
export class BlockSymbols {
  readonly #header: BlockHeader;
  readonly #column: Uint32Array;
  readonly #maxLength: number;
  /** The values, the most recently used in front. */
  readonly #recent: Uint8Array;
  #group = 0;
  #length = 0;
  #run = 0;
  #runDigit = 1;

  /** `column` takes the values; only its first `maxLength` places are used. */
  constructor(header: BlockHeader, column: Uint32Array, maxLength: number) {
    this.#header = header;
    this.#column = column;
    this.#maxLength = maxLength;
    this.#recent = header.values.slice();
  }

  /** Values in the column. */
  get length(): number {
    return this.#length;
  }

  /** True: the block's symbols have come to their end. */
  read(bits: BitReader, groups: number): boolean {
    for (let i = 0; i < groups; i += 1) if (this.#readGroup(bits)) return true;
    return false;
  }

  #readGroup(bits: BitReader): boolean {
    const code = this.#header.codes[this.#header.selectors[this.#group] ?? -1];
    if (code === undefined) throw new Bzip2Error("a block does not end");
    this.#group += 1;
    const endSymbol = this.#recent.length + 1;
    for (let i = 0; i < GROUP_SYMBOLS; i += 1) {
      const symbol = code.read(bits);
      if (symbol < RUN_SYMBOLS) {
        this.#run += this.#runDigit << symbol;
        this.#runDigit <<= 1;
        if (this.#run > this.#maxLength) throw tooLong();
        continue;
      }
      if (this.#run > 0) this.#endRun();
      if (symbol === endSymbol) return true;
      this.#add(symbol - 1);
    }
    return false;
  }

  #endRun(): void {
    const end = this.#length + this.#run;
    if (end > this.#maxLength) throw tooLong();
    this.#column.fill(this.#recent[0] ?? 0, this.#length, end);
    this.#length = end;
    this.#run = 0;
    this.#runDigit = 1;
  }

  #add(place: number): void {
    const recent = this.#recent;
    const value = recent[place] ?? 0;
    recent.copyWithin(1, 0, place);
    recent[0] = value;
    if (this.#length >= this.#maxLength) throw tooLong();
    this.#column[this.#length] = value;
    this.#length += 1;
  }
}

const tooLong = (): Bzip2Error => new Bzip2Error("a block is longer than it may be");
