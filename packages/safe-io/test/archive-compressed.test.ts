import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ContainedFolder, type Outcome, type Unpacked, unpackTo } from "../src/index.ts";
import { BZIP2_SAMPLES } from "./bzip2-samples.ts";
import { bzip2, withBzip2 } from "./bzip2-tool.ts";
import { tarByHand } from "./evil-archives.ts";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "sluice-compressed-"));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const LIMITS = { maxEntries: 5, maxBytes: 1_000_000, maxRatio: 20, ratioFloorBytes: 50_000 };

async function folderAt(name: string): Promise<ContainedFolder> {
  const opened = await ContainedFolder.open(join(base, name));
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

async function unpack(name: string, archive: Buffer): Promise<Outcome<Unpacked>> {
  const folder = await folderAt("container");
  await writeFile(join(folder.root, name), archive);
  return unpackTo(await folderAt("."), `container/${name}`, await folderAt("producer"), { limits: LIMITS });
}

const filesHere = (): Promise<string[]> => readdir(join(base, "producer"), { recursive: true });
const textOf = (name: string): Promise<string> => readFile(join(base, "producer", name), "utf8");

const TAR = tarByHand([{ name: "a.txt", content: "hello" }]);
/** As tar wrote it before POSIX: no mark, the checksum alone. */
const oldTar = (): Buffer => {
  const tar = Buffer.from(TAR).fill(0, 257, 512).fill(" ", 148, 156);
  const sum = tar.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  tar.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return tar;
};
const wrongSum = (gzip: Buffer): Buffer => Buffer.from(gzip).fill(0, gzip.length - 8, gzip.length - 4);
const HELLO_BZ2 = Buffer.from(BZIP2_SAMPLES["hello"]!.packed, "base64");

describe("a tar under a compression is unpacked", () => {
  test.each(["d.tar.gz", "d.tgz", "d.gz", "download"])("as gzip called %s", async (name) => {
    expect(await unpack(name, gzipSync(TAR))).toEqual({ ok: true, value: { kind: "tar.gz", files: 1, bytes: 5 } });
    expect(await textOf("a.txt")).toBe("hello");
  });

  withBzip2.each(["d.tar.bz2", "d.tbz", "d.tbz2", "d.bz2", "download"])("as bzip2 called %s", async (name) => {
    expect(await unpack(name, bzip2(TAR))).toEqual({ ok: true, value: { kind: "tar.bz2", files: 1, bytes: 5 } });
    expect(await textOf("a.txt")).toBe("hello");
  });

  test("also from before POSIX", async () => {
    expect(await unpack("d.gz", gzipSync(oldTar()))).toMatchObject({ ok: true, value: { kind: "tar.gz" } });
    await (await folderAt("producer")).clear();
    expect(await unpack("d.tar", oldTar())).toMatchObject({ ok: true, value: { kind: "tar" } });
  });
});

describe("a single file under a compression", () => {
  test.each([
    ["data.csv.gz", gzipSync("1,2\n"), "data.csv", "gz", "1,2\n"],
    ["DATA.GZ", gzipSync("x"), "DATA", "gz", "x"],
    ["empty.gz", gzipSync(""), "empty", "gz", ""],
    ["notes.txt.bz2", HELLO_BZ2, "notes.txt", "bz2", "hello hello hello\n"],
    ["notes.bz", HELLO_BZ2, "notes", "bz2", "hello hello hello\n"],
    ["été 😀.gz", gzipSync("x"), "été 😀", "gz", "x"],
  ])("%s is stored without it", async (container, archive, name, kind, text) => {
    expect(await unpack(container, archive)).toMatchObject({ ok: true, value: { kind, files: 1 } });
    expect(await filesHere()).toEqual([name]);
    expect(await textOf(name)).toBe(text);
  });

  test.each([
    ["whose name promises a tar", "d.tar.gz", gzipSync("no tar\n".repeat(200)), "ARCHIVE_CORRUPT"],
    ["whose name does not tell", "download", gzipSync("no tar"), "ARCHIVE_CORRUPT"],
    ["without a name below its suffix", ".gz", gzipSync("x"), "NAME_REFUSED"],
    ["with a name that climbs", "...gz", gzipSync("x"), "NAME_REFUSED"],
    ["that breaks off", "d.txt.bz2", HELLO_BZ2.subarray(0, 40), "ARCHIVE_CORRUPT"],
    ["with a wrong checksum", "d.txt.gz", wrongSum(gzipSync("abc")), "ARCHIVE_CORRUPT"],
    ["that unpacks to too much", "d.txt.gz", gzipSync(Buffer.alloc(60_000)), "ARCHIVE_REFUSED"],
  ])("%s is refused", async (_what, name, archive, code) => {
    expect(await unpack(name, archive)).toMatchObject({ ok: false, error: { code, retryable: false } });
    expect(await filesHere()).toEqual([]);
  });
});

describe("a bomb under bzip2 is refused", () => {
  const zeros = Buffer.alloc(40_000_000);
  withBzip2.each([
    ["as a tar", "d.tar.bz2", (): Buffer => bzip2(tarByHand([{ name: "bomb", content: zeros }])), "20 times"],
    ["as a single file", "d.bin.bz2", (): Buffer => bzip2(zeros), "d.bin"],
    ["of several streams", "d.bin.bz2", (): Buffer => Buffer.concat([HELLO_BZ2, bzip2(zeros)]), "d.bin"],
  ])("%s", async (_what, name, make, entry) => {
    const outcome = await unpack(name, make());
    expect(outcome).toMatchObject({ ok: false, error: { code: "ARCHIVE_REFUSED" } });
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining(entry) as unknown } });
    expect(await filesHere()).toEqual([]);
  });

  withBzip2("by its bytes, however well it compresses", async () => {
    const noise = Buffer.from(Array.from({ length: 1_100_000 }, (_, i) => (i * i * 31) % 251));
    const outcome = await unpack("d.bin.bz2", bzip2(noise));
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: expect.stringMatching(/TOO_LARGE|ARCHIVE_REFUSED/) as unknown },
    });
  });
});
