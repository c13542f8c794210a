import { expect, test } from "@jest/globals";

import { DigestMeter, digestMatches, type DigestName } from "../src/index.ts";

/** Published values for "Wikipedia" (adler32), "123456789" (crc32) and "abc" (the others). */
const KNOWN: readonly (readonly [DigestName, string, string])[] = [
  ["adler32", "Wikipedia", "11e60398"],
  ["crc32", "123456789", "cbf43926"],
  ["md5", "abc", "900150983cd24fb0d6963f7d28e17f72"],
  ["sha1", "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"],
  ["sha256", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  ["sha384", "abc", "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"],
  [
    "sha512",
    "abc",
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
  ],
];

test.each(KNOWN)("%s of %j, in one piece and byte by byte", (algorithm, text, expected) => {
  const whole = new DigestMeter([algorithm]);
  whole.update(Buffer.from(text));
  const pieces = new DigestMeter([algorithm]);
  for (const byte of Buffer.from(text)) pieces.update(Buffer.from([byte]));
  expect(whole.digests()).toEqual({ [algorithm]: expected });
  expect(pieces.digests()).toEqual({ [algorithm]: expected });
  expect(pieces.bytes).toBe(text.length);
});

test("several digests in one pass, each once, of more bytes than fit in one block", () => {
  const meter = new DigestMeter(["adler32", "sha256", "sha256", "crc32"]);
  meter.update(Buffer.alloc(100_000, 0xff));
  const digests = meter.digests();
  // Computed with Python's zlib.
  expect([digests.adler32, digests.crc32]).toEqual(["149a302c", "68c6cec4"]);
  expect(Object.keys(digests)).toEqual(["adler32", "sha256", "crc32"]);
});

test("nothing at all has digests too", () => {
  expect(new DigestMeter(["adler32", "crc32"]).digests()).toEqual({ adler32: "00000001", crc32: "00000000" });
});

test("an expected digest may be written in capitals", () => {
  expect(digestMatches({ md5: "ab" }, { algorithm: "md5", value: "AB" })).toBe(true);
  expect(digestMatches({ md5: "ab" }, { algorithm: "sha1", value: "ab" })).toBe(false);
});
