import { createHash, randomBytes } from "node:crypto";

import { describe, expect, test } from "@jest/globals";
import { decompressBzip2 } from "../src/bzip2/decompress.ts";
import { BZIP2_SAMPLES } from "./bzip2-samples.ts";
import { bzip2, withBzip2 } from "./bzip2-tool.ts";

async function* pieces(data: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < data.length; at += size) yield await Promise.resolve(data.subarray(at, at + size));
}

async function decompress(data: Buffer, size = 65_536): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of decompressBzip2(pieces(data, size))) parts.push(part);
  return Buffer.concat(parts);
}

const sha256 = (data: Buffer): string => createHash("sha256").update(data).digest("hex");

const WORDS = Buffer.from(
  Array.from({ length: 60_000 }, (_, i) => `word ${(i * 7919) % 1013} of line ${i}\n`).join(""),
);
const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
/** Runs of every length around the places where their coding changes. */
const RUNS = Buffer.concat(
  Array.from({ length: 600 }, (_, i) => Buffer.concat([Buffer.alloc(i % 300, i % 3), Buffer.from([255 - (i % 256)])])),
);
/** Code lengths from one bit to the longest. */
const SKEWED = Buffer.concat(
  Array.from({ length: 18 }, (_, i) => randomBytes(1 << i).map((byte) => (byte < 128 ? i : byte % (18 - i)))),
);

const CONTENTS: Readonly<Record<string, Buffer>> = {
  "one byte": Buffer.from("x"),
  words: WORDS,
  noise: randomBytes(950_000),
  runs: RUNS,
  "every byte": Buffer.concat(Array.from({ length: 50 }, () => ALL_BYTES)),
  "codes of very different lengths": SKEWED,
  "exactly four equal bytes": Buffer.from("aaaa"),
  "259 equal bytes": Buffer.alloc(259, 7),
  "exactly one block": WORDS.subarray(0, 900_000 - 19),
};

describe("what bzip2 compressed comes back", () => {
  withBzip2.each(Object.keys(CONTENTS))("%s, with small blocks and large ones", async (name) => {
    const content = CONTENTS[name]!;
    for (const level of [1, 9]) {
      expect(sha256(await decompress(bzip2(content, level)))).toBe(sha256(content));
    }
  });

  withBzip2.each([1, 2, 3, 4, 5, 6, 7, 8, 9])("at level %d", async (level) => {
    const content = WORDS.subarray(0, level * 100_000 + 5_000);
    expect(sha256(await decompress(bzip2(content, level)))).toBe(sha256(content));
  });

  withBzip2("in pieces of any size", async () => {
    const packed = bzip2(WORDS.subarray(0, 200_000), 1);
    for (const size of [1, 3, 1_000, packed.length]) {
      expect(sha256(await decompress(packed, size))).toBe(sha256(WORDS.subarray(0, 200_000)));
    }
  });

  withBzip2("from several streams one after the other, an empty one among them", async () => {
    const packed = [bzip2(RUNS, 1), bzip2(Buffer.alloc(0), 9), bzip2(WORDS, 5)];
    expect(sha256(await decompress(Buffer.concat(packed)))).toBe(sha256(Buffer.concat([RUNS, WORDS])));
  });

  test.each(Object.entries(BZIP2_SAMPLES))("sample: %s", async (_name, { packed, text }) => {
    expect((await decompress(Buffer.from(packed, "base64"))).toString()).toBe(text);
  });
});

const HELLO = Buffer.from(BZIP2_SAMPLES["hello"]!.packed, "base64");

describe("what is damaged is noticed", () => {
  test("at every byte that is cut off", async () => {
    for (let length = 0; length < HELLO.length; length += 1) {
      await expect(decompress(HELLO.subarray(0, length))).rejects.toThrow("breaks off");
    }
  });

  test("at every bit that is changed", async () => {
    // The last bits only fill the byte.
    for (let bit = 0; bit < HELLO.length * 8 - 7; bit += 1) {
      const changed = Buffer.from(HELLO);
      changed[bit >>> 3]! ^= 0x80 >>> (bit & 7);
      const outcome = await decompress(changed).catch((error: unknown) => (error as Error).name);
      if (outcome instanceof Buffer)
        expect([bit, outcome.toString()]).toEqual([expect.any(Number), "hello hello hello\n"]);
      else expect(outcome).toBe("Bzip2Error");
    }
  });

  test.each([
    ["something else behind its end", Buffer.concat([HELLO, Buffer.from("more")]), "something else"],
    ["no bzip2 at all", Buffer.from("<html></html>"), "something else"],
    ["the level 0", Buffer.from("BZh0"), "something else"],
    ["no block", Buffer.from("BZh9abcdefghijkl"), "where a block should begin"],
  ])("as %s", async (_what, data, message) => {
    await expect(decompress(data)).rejects.toThrow(message);
  });

  test("in the checksum of a block, and of the stream", async () => {
    const block = Buffer.from(HELLO);
    block[12]! ^= 1;
    await expect(decompress(block)).rejects.toThrow("checksum of a block");
    const stream = Buffer.from(HELLO);
    stream[stream.length - 2]! ^= 0x80;
    await expect(decompress(stream)).rejects.toThrow("its checksum");
  });

  withBzip2("within a large file, wherever it is", async () => {
    const packed = bzip2(WORDS, 2);
    for (let at = 20; at < packed.length; at += 1 + Math.floor(packed.length / 20)) {
      const changed = Buffer.from(packed);
      changed[at]! ^= 0x10;
      await expect(decompress(changed)).rejects.toThrow(/./);
    }
  });
});

withBzip2("others run between its pieces", async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const parts: Uint8Array[] = [];
  for await (const part of decompressBzip2(pieces(bzip2(CONTENTS["noise"]!, 9), 1e9))) parts.push(part);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(20);
});

withBzip2("a bomb comes in small pieces, and ends when its reader has enough", async () => {
  const bomb = bzip2(Buffer.alloc(50_000_000), 9);
  let bytes = 0;
  let closed = false;
  async function* source(): AsyncGenerator<Buffer> {
    try {
      yield* pieces(bomb, 100);
    } finally {
      closed = true;
    }
  }
  for await (const part of decompressBzip2(source())) {
    expect(part.length).toBeLessThanOrEqual(65_536);
    bytes += part.length;
    if (bytes > 1_000_000) break;
  }
  expect([bytes < 1_100_000, closed]).toEqual([true, true]);
});
