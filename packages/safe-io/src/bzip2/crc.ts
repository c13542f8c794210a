const POLYNOMIAL = 0x04c1_1db7;

/** The highest bit first, unlike zlib's, whose function cannot be used therefore. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) rest = rest < 0 ? (rest << 1) ^ POLYNOMIAL : rest << 1;
  return rest;
});

export const CRC_START = -1;

/** Continued from `before`, CRC_START at the beginning. */
export function nextCrc(before: number, bytes: Uint8Array): number {
  let crc = before;
  for (const byte of bytes) crc = (crc << 8) ^ (TABLE[(crc >>> 24) ^ byte] ?? 0);
  return crc;
}

export const finalCrc = (crc: number): number => ~crc >>> 0;

/** The sum of a stream, from the sums of its blocks. */
export const joinedCrc = (stream: number, block: number): number => (((stream << 1) | (stream >>> 31)) ^ block) >>> 0;
