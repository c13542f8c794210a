import { setImmediate } from "node:timers/promises";

import { Bzip2Error } from "./bits.ts";
import { type BlockHeader, readBlockHeader } from "./block-header.ts";
import { BlockSymbols } from "./block-symbols.ts";
import { BlockText } from "./block-text.ts";
import { CRC_START, finalCrc, joinedCrc, nextCrc } from "./crc.ts";
import { BitInput } from "./input.ts";

const BLOCK_MAGIC = 0x3141_5926_5359;
const END_MAGIC = 0x1772_4538_5090;

/** Of a block's text, times the level of its stream. */
const LEVEL_BYTES = 100_000;
const PIECE_BYTES = 65_536;
/** Groups of symbols between two breaths: some milliseconds. */
const GROUPS_AT_ONCE = 2_000;

/** No block can be longer: every value a code of 20 bits, and all tables at their largest. */
const maxBlockBytes = (level: number): number => Math.ceil(level * LEVEL_BYTES * 2.5) + 100_000;

/**
 * Decompresses bzip2, one or more streams one after the other, every checksum verified. It holds one block at a time (at most
 * 900 kB of text, about 7 MB in all), and lets others run between its pieces. Throws a Bzip2Error, or what the source throws.
 */
export async function* decompressBzip2(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const input = new BitInput(source);
  try {
    do yield* readStream(input);
    while (await hasMore(input));
  } finally {
    await input.close();
  }
}

async function hasMore(input: BitInput): Promise<boolean> {
  await input.provide(1);
  return !input.isAtEnd;
}

async function* readStream(input: BitInput): AsyncGenerator<Uint8Array> {
  const level = await readLevel(input);
  const column = new Uint32Array(level * LEVEL_BYTES);
  let crc = 0;
  for (;;) {
    await input.provide(maxBlockBytes(level));
    const magic = input.bits.take(24) * 0x100_0000 + input.bits.take(24);
    if (magic === END_MAGIC) break;
    if (magic !== BLOCK_MAGIC) throw new Bzip2Error("it is damaged where a block should begin");
    const header = readBlockHeader(input.bits);
    yield* readBlock(header, input, column);
    crc = joinedCrc(crc, header.crc);
  }
  if (input.bits.takeUint32() !== crc) throw new Bzip2Error("its checksum is wrong");
  input.bits.align();
}

async function readLevel(input: BitInput): Promise<number> {
  await input.provide(4);
  const magic = input.bits.take(24);
  const level = input.bits.take(8) - "0".charCodeAt(0);
  if (magic !== 0x42_5a68 || level < 1 || level > 9) throw new Bzip2Error("what should be bzip2 is something else");
  return level;
}

async function* readBlock(header: BlockHeader, input: BitInput, column: Uint32Array): AsyncGenerator<Uint8Array> {
  const symbols = new BlockSymbols(header, column, column.length);
  while (!symbols.read(input.bits, GROUPS_AT_ONCE)) await setImmediate();
  const text = new BlockText(column, symbols.length, header.origin);
  let crc = CRC_START;
  for (;;) {
    await setImmediate();
    const piece = new Uint8Array(PIECE_BYTES);
    const filled = piece.subarray(0, text.fill(piece));
    if (filled.length === 0) break;
    crc = nextCrc(crc, filled);
    yield filled;
  }
  if (finalCrc(crc) !== header.crc) throw new Bzip2Error("the checksum of a block is wrong");
}
