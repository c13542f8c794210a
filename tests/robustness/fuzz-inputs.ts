/** How inputs are made that look like what a parser expects, and are not. */
import fc from "fast-check";

export interface FuzzTarget {
  readonly name: string;
  readonly arbitrary: fc.Arbitrary<Buffer>;
  /** Answers or refuses. Whatever it throws is a finding. */
  readonly run: (input: Buffer) => unknown;
  /** What is repeated to see that twice the bytes take about twice the time. */
  readonly grows?: (bytes: number) => readonly Buffer[];
}

/** Pieces of the format, strung together with pieces of anything. */
export function madeOf(pieces: readonly string[]): fc.Arbitrary<Buffer> {
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...pieces).map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)) },
  );
  return fc.array(piece, { maxLength: 60 }).map((parts) => Buffer.concat(parts));
}

/** One piece over and over, alone and after a beginning: what overlapping repeats are slow with. */
export const repeats =
  (beginning: string, ...pieces: readonly string[]) =>
  (bytes: number): readonly Buffer[] =>
    pieces.map((piece) => Buffer.from(beginning + piece.repeat(Math.ceil(bytes / piece.length))));

export const inChunks = (input: Buffer, size: number): readonly Buffer[] =>
  Array.from({ length: Math.ceil(input.length / size) }, (_, at) => input.subarray(at * size, (at + 1) * size));

export const CHUNK = 4_096;
