const PRIME = 65_521;

/** The sums stay below 2^53 for far more bytes; 5552 keeps them in 32 bits, where the engine is fast. */
const BLOCK = 5552;

/** RFC 1950's checksum, continued from `before` (1 at the beginning). */
export function adler32(bytes: Uint8Array, before: number): number {
  let a = before & 0xffff;
  let b = before >>> 16;
  for (let start = 0; start < bytes.length; start += BLOCK) {
    const end = Math.min(start + BLOCK, bytes.length);
    for (let i = start; i < end; i += 1) {
      a += bytes[i] ?? 0;
      b += a;
    }
    a %= PRIME;
    b %= PRIME;
  }
  return ((b << 16) | a) >>> 0;
}
