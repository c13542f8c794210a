/** Containers that look like zip, tar, gzip and bzip2, and lie. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { ContainedFolder, unpackTo } from "@sluice/safe-io";
import fc from "fast-check";

import { paxName, tarByHand, tarGz, zipByHand, type ZipEntry } from "../../packages/safe-io/test/evil-archives.ts";
import type { FuzzTarget } from "./fuzz-inputs.ts";

/** Heads of tar that promise more, or elsewhere, than is there. */
const tarHead = fc
  .record({
    name: fc.constantFrom("a", "../a", "/a", "d/".repeat(40), "a/b", ""),
    size: fc.constantFrom("00000000001\0", "77777777777\0", "-1\0", "99999999999\0"),
    type: fc.constantFrom("0", "1", "2", "5", "L", "x", "g", "S"),
  })
  .map(({ name, size, type }) => {
    const head = Buffer.alloc(1_024);
    head.write(name, 0, 100, "latin1");
    head.write(size, 124, 12, "latin1");
    head.write("        ", 148, "latin1");
    head.write(type, 156, "latin1");
    head.write("ustar\0" + "00", 257, "latin1");
    const sum = head.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
    return head;
  });
/** Pieces of a zip in any order. */
const zipParts = [
  "PK\x03\x04",
  "PK\x01\x02",
  "PK\x05\x06",
  "\x14\x00\x00\x00",
  "\x08\x00",
  "\x00".repeat(16),
  "a/../b",
  "\xff\xff\xff\xff",
];

/** A zip whose parts are where they belong, with headers that lie about them. */
const zipEntry: fc.Arbitrary<ZipEntry> = fc.record(
  {
    name: fc.oneof(fc.constantFrom("a", "a/", "b/c", "../a", "/a", "a\\b", "a\0b", ""), fc.string({ maxLength: 8 })),
    content: fc.string({ maxLength: 40 }),
    mode: fc.constantFrom(0o100644, 0o120777, 0o040755, 0o060000),
    flags: fc.constantFrom(0, 1, 8, 0x800, 0x2000),
    method: fc.constantFrom(0, 8, 12, 99),
    says: fc.record(
      {
        crc32: fc.nat(),
        bytes: fc.constantFrom(0, 1, 0xffff_fffe, 0xffff_ffff),
        packedBytes: fc.constantFrom(0, 1, 0xffff_ffff),
      },
      { requiredKeys: [] },
    ),
    localName: fc.constantFrom("a", "z"),
    extra: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
    contentOf: fc.nat({ max: 2 }),
  },
  { requiredKeys: ["name"] },
);

const zip = fc
  .tuple(fc.array(zipEntry, { maxLength: 5 }), fc.record({ entryCount: fc.nat({ max: 70_000 }) }, { requiredKeys: [] }))
  .map(([entries, { entryCount }]) =>
    zipByHand(entries, entryCount === undefined ? {} : { entryCount: entryCount % 65_536 }),
  );

const TAR_BLOCK = 512;
const manyOf = (bytes: number, bytesEach: number): readonly number[] =>
  Array.from({ length: Math.ceil(bytes / bytesEach) }, (_, at) => at);

/** What every entry is given of a global header costs as often as there are headers. */
function manyGlobals(bytes: number): Buffer {
  const records = manyOf(bytes / 2, 10).map((at) => `10 ${at.toString(36).padStart(4, "0")}=1\n`);
  const headers = manyOf(bytes / 2, 2 * TAR_BLOCK).map((at) => paxName(`f${at}`));
  return tarByHand([{ name: "g", type: "g", content: records.join("") }, ...headers, { name: "f", content: "x" }]);
}

/** Each file is made on the disk, which takes as long as parsing a thousand times its bytes: there are fewer of them. */
const FEWER = 8;

const growing = (bytes: number): readonly Buffer[] => {
  const few = bytes / FEWER;
  return [
    tarByHand(manyOf(few, 2 * TAR_BLOCK).map((at) => ({ name: `f${at}`, content: "x" }))),
    tarByHand(manyOf(bytes, TAR_BLOCK).map((at) => ({ name: `d${at}/`, type: "5" }))),
    tarByHand(manyOf(few, 4 * TAR_BLOCK).flatMap((at) => [paxName(`f${at}`), { name: "f", content: "x" }])),
    tarByHand([{ name: "l", type: "L", content: "a/".repeat(bytes / 2) }, { name: "f" }]),
    tarByHand([
      { name: "x", type: "x", content: "9 a=1234\n".repeat(bytes / 9) },
      { name: "f", content: "x" },
    ]),
    manyGlobals(bytes),
    tarGz(manyOf(few, 2 * TAR_BLOCK).map((at) => ({ name: `a/${at}/f`, content: "x" }))),
    gzipSync(Buffer.alloc(bytes)),
    zipByHand(manyOf(few, 100).map((at) => ({ name: `f${at}`, content: "x", method: 0 }))),
    zipByHand(manyOf(bytes, 100).map((at) => ({ name: `d${at}/`, content: "", method: 0 }))),
    zipByHand(manyOf(bytes, 50).map((at) => ({ name: "f", method: 0, ...(at === 0 ? {} : { contentOf: 0 }) }))),
    Buffer.concat([zipByHand([{ name: "f", content: "x" }]), Buffer.from("PK\x05\x06".repeat(bytes / 4))]),
    Buffer.concat([Buffer.from("BZh91AY&SY"), Buffer.alloc(bytes, 0x55)]),
  ];
};

export const archives: FuzzTarget = {
  name: "archives",
  arbitrary: fc.oneof(
    fc.array(tarHead, { maxLength: 6 }).map((heads) => Buffer.concat(heads)),
    fc.array(tarHead, { maxLength: 6 }).map((heads) => gzipSync(Buffer.concat(heads))),
    zip,
    fc.array(fc.constantFrom(...zipParts), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(""), "latin1")),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.concat([Buffer.from("BZh91AY&SY"), bytes])),
  ),
  async run(input) {
    const root = await mkdtemp(join(tmpdir(), "sluice-fuzz-"));
    try {
      await writeFile(join(root, "it"), input);
      const from = await ContainedFolder.open(root);
      if (!from.ok) throw new Error(from.error.message);
      const target = await from.value.sub("out");
      if (!target.ok) throw new Error(target.error.message);
      return await unpackTo(from.value, "it", target.value, { limits: { maxBytes: 1_000_000 } });
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  },
  grows: growing,
};
