import { type Parsed, parsed, refused } from "./problem.ts";
import { quote } from "./text.ts";

/** Length of the value in hexadecimal digits. */
export const DIGEST_HEX_LENGTH = {
  adler32: 8,
  crc32: 8,
  md5: 32,
  sha1: 40,
  sha256: 64,
  sha384: 96,
  sha512: 128,
} as const;

export type DigestAlgorithm = keyof typeof DIGEST_HEX_LENGTH;

export const DIGEST_ALGORITHMS = Object.keys(DIGEST_HEX_LENGTH) as readonly DigestAlgorithm[];

export interface Digest {
  readonly algorithm: DigestAlgorithm;
  /** Lower case. */
  readonly value: string;
}

const isAlgorithm = (name: string): name is DigestAlgorithm => Object.hasOwn(DIGEST_HEX_LENGTH, name);

/** Any case, with or without dashes: `SHA-256`, `sha256`, `Adler-32`. */
export function parseDigestAlgorithm(name: string): Parsed<DigestAlgorithm> {
  const normal = name.trim().toLowerCase().replaceAll("-", "");
  if (isAlgorithm(normal)) return parsed(normal);
  if (normal === "md2") {
    return refused({
      code: "DIGEST_ALGORITHM_UNSUPPORTED",
      message: "md2 is not supported: it is broken and no current library computes it",
      expected: "another algorithm, best sha256",
    });
  }
  return refused({
    code: "DIGEST_ALGORITHM_UNKNOWN",
    message: `unknown digest algorithm ${quote(name)}`,
    expected: DIGEST_ALGORITHMS.join(", "),
  });
}

/** A digest whose value has the right length and alphabet. */
export function parseDigest(algorithmName: string, value: string): Parsed<Digest> {
  const algorithm = parseDigestAlgorithm(algorithmName);
  if (!algorithm.ok) return algorithm;
  const normal = value.trim().toLowerCase();
  const length = DIGEST_HEX_LENGTH[algorithm.value];
  if (normal.length === length && /^[0-9a-f]+$/.test(normal))
    return parsed({ algorithm: algorithm.value, value: normal });
  return refused({
    code: "DIGEST_VALUE_MALFORMED",
    message: `${quote(value)} is no ${algorithm.value} value`,
    expected: `${length} hexadecimal digits`,
  });
}
