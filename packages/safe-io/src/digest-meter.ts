import { createHash, type Hash } from "node:crypto";
import { crc32 } from "node:zlib";

import { adler32 } from "./adler32.ts";

export type DigestName = "adler32" | "crc32" | "md5" | "sha1" | "sha256" | "sha384" | "sha512";

export interface ExpectedDigest {
  readonly algorithm: DigestName;
  /** Hexadecimal, any case. */
  readonly value: string;
}

export type Digests = Readonly<Partial<Record<DigestName, string>>>;

/** Counts bytes and computes any number of digests of them in one pass. */
export class DigestMeter {
  #bytes = 0;
  readonly #sums: readonly Sum[];

  constructor(algorithms: readonly DigestName[]) {
    this.#sums = [...new Set(algorithms)].map(sumOf);
  }

  get bytes(): number {
    return this.#bytes;
  }

  update(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    for (const sum of this.#sums) sum.update(chunk);
  }

  /** Lower case hexadecimal. Call it once, at the end. */
  digests(): Digests {
    return Object.fromEntries(this.#sums.map((sum) => [sum.name, sum.value()]));
  }
}

export const digestMatches = (digests: Digests, expected: ExpectedDigest): boolean =>
  digests[expected.algorithm] === expected.value.toLowerCase();

/** Digests of a whole stream. */
export async function meterStream(
  chunks: AsyncIterable<Uint8Array>,
  algorithms: readonly DigestName[],
): Promise<{ readonly bytes: number; readonly digests: Digests }> {
  const meter = new DigestMeter(algorithms);
  for await (const chunk of chunks) meter.update(chunk);
  return { bytes: meter.bytes, digests: meter.digests() };
}

interface Sum {
  readonly name: DigestName;
  update(chunk: Uint8Array): void;
  value(): string;
}

function sumOf(name: DigestName): Sum {
  if (name === "adler32") return checksum(name, 1, adler32);
  if (name === "crc32") return checksum(name, 0, (chunk, before) => crc32(chunk, before));
  const hash: Hash = createHash(name);
  return { name, update: (chunk) => void hash.update(chunk), value: () => hash.digest("hex") };
}

function checksum(name: DigestName, start: number, next: (chunk: Uint8Array, before: number) => number): Sum {
  let sum = start;
  return {
    name,
    update: (chunk) => {
      sum = next(chunk, sum);
    },
    value: () => (sum >>> 0).toString(16).padStart(8, "0"),
  };
}
