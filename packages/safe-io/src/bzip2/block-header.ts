import { type BitReader, Bzip2Error } from "./bits.ts";
import { MAX_CODE_BITS, PrefixCode } from "./prefix-code.ts";

/** What stands before the symbols of a block. */
export interface BlockHeader {
  readonly crc: number;
  /** Where the text begins among its sorted rotations. */
  readonly origin: number;
  /** The byte values that occur, ascending. */
  readonly values: Uint8Array;
  readonly codes: readonly PrefixCode[];
  /** Which code holds for each group of symbols. */
  readonly selectors: Uint8Array;
}

/** Symbols that one selector holds for. */
export const GROUP_SYMBOLS = 50;
/** As many groups as the largest block has; encoders were known to announce more, which are read and not used. */
const MAX_SELECTORS = 18_002;

export function readBlockHeader(bits: BitReader): BlockHeader {
  const crc = bits.takeUint32();
  if (bits.take(1) === 1) throw new Bzip2Error("it was made by a bzip2 older than 1.0 (randomised), which is not read");
  const origin = bits.take(24);
  const values = readValues(bits);
  const codeCount = bits.take(3);
  if (codeCount < 2 || codeCount > 6) throw new Bzip2Error(`it has ${codeCount} tables of codes`);
  const selectors = readSelectors(bits, codeCount);
  const codes = Array.from({ length: codeCount }, () => new PrefixCode(readLengths(bits, values.length + 2)));
  return { crc, origin, values, codes, selectors };
}

/** Two steps: which ranges of 16 values occur at all, then which values in them. */
function readValues(bits: BitReader): Uint8Array {
  const ranges = bits.take(16);
  const values: number[] = [];
  for (let range = 0; range < 16; range += 1) {
    const used = ((ranges >>> (15 - range)) & 1) === 1 ? bits.take(16) : 0;
    for (let i = 0; i < 16; i += 1) if (((used >>> (15 - i)) & 1) === 1) values.push(range * 16 + i);
  }
  if (values.length === 0) throw new Bzip2Error("it has a block without a value");
  return Uint8Array.from(values);
}

/** Each as its place in a list whose last used member moves to the front. */
function readSelectors(bits: BitReader, codeCount: number): Uint8Array {
  const count = bits.take(15);
  if (count === 0) throw new Bzip2Error("it has a block without selectors");
  const recent = Array.from({ length: codeCount }, (_, code) => code);
  const selectors = new Uint8Array(Math.min(count, MAX_SELECTORS));
  for (let i = 0; i < count; i += 1) {
    let place = 0;
    while (bits.take(1) === 1) place += 1;
    const [code] = recent.splice(place, 1);
    if (code === undefined) throw new Bzip2Error("it selects a table that it does not have");
    recent.unshift(code);
    selectors[i] = code;
  }
  return selectors;
}

/** Each as steps up and down from the one before. */
function readLengths(bits: BitReader, symbols: number): Uint8Array {
  const lengths = new Uint8Array(symbols);
  let length = bits.take(5);
  for (let symbol = 0; symbol < symbols; symbol += 1) {
    while (bits.take(1) === 1) length += bits.take(1) === 1 ? -1 : 1;
    if (length < 1 || length > MAX_CODE_BITS) throw new Bzip2Error(`it has a code of ${length} bits`);
    lengths[symbol] = length;
  }
  return lengths;
}
