import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, gzipSync } from "node:zlib";

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  ContainedFolder,
  type Outcome,
  type Unpacked,
  type UnpackedFile,
  type UnpackOptions,
  unpackTo,
} from "../src/index.ts";
import { honestZip, paxName, type TarEntry, tarByHand, tarGz, type ZipEntry, zipByHand } from "./evil-archives.ts";

let base: string;
let target: ContainedFolder;
let unpacked: UnpackedFile[];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "sluice-archive-"));
  target = await openFolder(join(base, "job", "producer"));
  unpacked = [];
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function openFolder(path: string): Promise<ContainedFolder> {
  const opened = await ContainedFolder.open(path);
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

async function unpack(archive: Buffer, options: UnpackOptions = {}): Promise<Outcome<Unpacked>> {
  await writeFile(join(base, "container"), archive);
  return unpackTo(await openFolder(base), "container", target, {
    onFile: (file) => void unpacked.push(file),
    ...options,
  });
}

async function namesHere(): Promise<string[]> {
  const files = await target.files();
  return files.ok ? files.value.map(({ name }) => name) : [];
}

/** Every path below the test's folder: nothing may appear anywhere. */
const wholeDisk = async (): Promise<string[]> => (await readdir(base, { recursive: true })).sort();

const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

describe("a container is unpacked", () => {
  const FILES = { "a.txt": "hello", "deep/er/b.bin": randomBytes(300_000), empty: "", "été 😀.txt": "x" };
  const tarEntries: TarEntry[] = Object.entries(FILES).map(([name, content]) => ({ name, content }));

  test.each([
    ["zip", () => honestZip(FILES)],
    ["tar", () => Promise.resolve(tarByHand(tarEntries))],
    ["tar.gz", () => Promise.resolve(tarGz(tarEntries))],
  ])("%s, byte for byte, with its digests", async (kind, make) => {
    const seen: number[] = [];
    const bytes = 5 + 300_000 + 0 + 1;
    expect(await unpack(await make(), { onProgress: (done) => seen.push(done) })).toEqual({
      ok: true,
      value: { kind, files: 4, bytes },
    });
    for (const [name, content] of Object.entries(FILES)) {
      expect((await readFile(join(target.root, name))).equals(Buffer.from(content))).toBe(true);
      expect(unpacked).toContainEqual({ name, bytes: Buffer.byteLength(content), sha256: sha256(content) });
    }
    expect(await namesHere()).toHaveLength(4);
    expect(Math.max(...seen)).toBe(bytes);
  });

  test("with folders, which come with their files alone", async () => {
    const zip = zipByHand([{ name: "empty/", mode: 0o040755 }, { name: "d/" }, { name: "d/a", content: "x" }]);
    expect(await unpack(zip)).toMatchObject({ ok: true, value: { files: 1 } });
    expect(await namesHere()).toEqual(["d/a"]);
  });

  test("with `./` before its names, as `tar c .` makes it", async () => {
    const tar = tarByHand([
      { name: "./", type: "5" },
      { name: "./a", content: "x" },
      { name: "././b/c", content: "y" },
    ]);
    expect(await unpack(tar)).toMatchObject({ ok: true, value: { files: 2 } });
    expect(await namesHere()).toEqual(["a", "b/c"]);
  });

  test.each([
    ["zip", zipByHand([{ name: "inner.zip", content: zipByHand([{ name: "x", content: "x" }]) }])],
    ["tar", tarByHand([{ name: "inner.zip", content: zipByHand([{ name: "x", content: "x" }]) }])],
  ])("but not the one inside a %s", async (_kind, archive) => {
    expect(await unpack(archive)).toMatchObject({ ok: true, value: { files: 1 } });
    expect(await namesHere()).toEqual(["inner.zip"]);
  });

  test("with long names and sizes in extended headers", async () => {
    const name = `${"long/".repeat(40)}é.txt`;
    expect(await unpack(tarByHand([paxName(name), { name: "short", content: "x" }]))).toMatchObject({ ok: true });
    const gnu = { name: "././@LongLink", type: "L", content: `${name}\0` };
    await target.clear();
    expect(await unpack(tarByHand([gnu, { name: "short", content: "x" }]))).toMatchObject({ ok: true });
    expect(unpacked.map((file) => file.name)).toEqual([name, name]);
  });

  test("with UTF-8 names, and ISO-8859-1 for what is no UTF-8", async () => {
    const latin = Buffer.from("caf\xe9.txt", "latin1");
    const utf8 = Buffer.from("caf\u00e9-2.txt", "utf8");
    for (const archive of [
      zipByHand([{ name: latin }, { name: utf8 }]),
      tarByHand([{ name: latin }, { name: utf8 }]),
    ]) {
      expect(await unpack(archive)).toMatchObject({ ok: true });
      expect(await namesHere()).toEqual(["caf\u00e9-2.txt", "caf\u00e9.txt"]);
      await target.clear();
    }
  });

  test("with the true name where a packer could not spell it, unless it belongs to another name", async () => {
    const extra = (sum: number): Buffer => {
      const body = Buffer.concat([Buffer.from([1]), Buffer.from(Uint32Array.of(sum).buffer), Buffer.from("שלום.txt")]);
      return Buffer.concat([Buffer.from(Uint16Array.of(0x7075, body.length).buffer), body]);
    };
    const zip = zipByHand([
      { name: "#U05e9", extra: extra(crc32("#U05e9")), content: "x" },
      { name: "other", extra: extra(0), content: "x" },
    ]);
    expect(await unpack(zip)).toMatchObject({ ok: true });
    expect(await namesHere()).toEqual(["other", "שלום.txt"]);
  });

  test("only into an empty folder", async () => {
    await target.write("mine", "x");
    expect(await unpack(await honestZip({ a: "x" }))).toMatchObject({ error: { code: "ALREADY_THERE" } });
    expect(await namesHere()).toEqual(["mine"]);
  });
});

const good: ZipEntry = { name: "good.txt", content: "good" };
const goodTar: TarEntry = { name: "good.txt", content: "good" };

const LIMITS = { maxEntries: 5, maxBytes: 1_000_000, maxRatio: 20, ratioFloorBytes: 50_000 };

/** A whole archive that is cut or changed afterwards. */
const changed = (archive: Buffer, at: number, byte: number): Buffer => {
  const copy = Buffer.from(archive);
  copy[at < 0 ? copy.length + at : at] = byte;
  return copy;
};

const NAMES = [
  "../evil",
  "a/../../evil",
  "/etc/evil",
  "C:/evil",
  "a\\evil",
  "..\\evil",
  "a//evil",
  ".sluice-tmp-evil",
  "x".repeat(300),
];
const incompressible = randomBytes(30_000);
const stored: ZipEntry = { name: "stored.bin", content: randomBytes(1_000), method: 0 };

const CORPUS: readonly (readonly [what: string, archive: Buffer, code: string, entry: string])[] = [
  ...NAMES.map(
    (name) =>
      [`zip name ${name.slice(0, 20)}`, zipByHand([good, { name }]), "NAME_REFUSED", name.slice(0, 20)] as const,
  ),
  ...NAMES.filter((name) => name.length < 100).map(
    (name) => [`tar name ${name}`, tarByHand([goodTar, { name }]), "NAME_REFUSED", name] as const,
  ),
  ["zip name with NUL", zipByHand([good, { name: "a\0b" }]), "NAME_REFUSED", "a"],
  ["pax name that leaves", tarByHand([goodTar, paxName("../../evil"), { name: "ok" }]), "NAME_REFUSED", "../../evil"],
  ["pax name with NUL", tarByHand([goodTar, paxName("a\0evil"), { name: "ok" }]), "NAME_REFUSED", "evil"],
  ["pax name of 300 bytes", tarByHand([paxName("x".repeat(300)), { name: "ok" }]), "NAME_REFUSED", "xxx"],
  [
    "pax name that is no UTF-8",
    tarByHand([paxName(Buffer.from([0x66, 0xe9])), { name: "ok" }]),
    "ARCHIVE_REFUSED",
    "f",
  ],
  ["zip link", zipByHand([good, { name: "link", content: "/etc/passwd", mode: 0o120777 }]), "ARCHIVE_REFUSED", "link"],
  ["zip device", zipByHand([good, { name: "dev", mode: 0o060600 }]), "ARCHIVE_REFUSED", "dev"],
  ["tar link", tarByHand([goodTar, { name: "link", type: "2", linkName: "/etc/passwd" }]), "ARCHIVE_REFUSED", "link"],
  ["tar hard link", tarByHand([goodTar, { name: "hard", type: "1", linkName: "good.txt" }]), "ARCHIVE_REFUSED", "hard"],
  ["tar device", tarByHand([goodTar, { name: "dev", type: "3" }]), "ARCHIVE_REFUSED", "dev"],
  ["tar pipe", tarByHand([goodTar, { name: "pipe", type: "6" }]), "ARCHIVE_REFUSED", "pipe"],
  ["tar entry of unknown type", tarByHand([goodTar, { name: "sparse", type: "S" }]), "ARCHIVE_REFUSED", "sparse"],
  [
    "tar link, then a file through it",
    tarByHand([{ name: "d", type: "2", linkName: "/tmp" }, { name: "d/evil" }]),
    "ARCHIVE_REFUSED",
    "d",
  ],
  ["encrypted zip entry", zipByHand([good, { name: "secret", content: "x", flags: 1 }]), "ARCHIVE_REFUSED", "secret"],
  ["strongly encrypted zip entry", zipByHand([good, { name: "secret", flags: 0x41 }]), "ARCHIVE_CORRUPT", "encryption"],
  ["unusual compression", zipByHand([good, { name: "lzma", method: 14 }]), "ARCHIVE_REFUSED", "lzma"],
  [
    "overlapping entries",
    zipByHand([good, { name: "good.txt", content: "good", contentOf: 0 }]),
    "ARCHIVE_REFUSED",
    "good.txt",
  ],
  [
    "overlap by a size too large",
    zipByHand([{ ...stored, says: { packedBytes: 1_030, bytes: 1_030 } }, good]),
    "ARCHIVE_REFUSED",
    "good.txt",
  ],
  [
    "two names for one content",
    zipByHand([good, { name: "shown.txt", localName: "other.txt" }]),
    "ARCHIVE_CORRUPT",
    "shown.txt",
  ],
  ["zip duplicate", zipByHand([good, good]), "ARCHIVE_REFUSED", "good.txt"],
  ["tar duplicate", tarByHand([goodTar, goodTar]), "ARCHIVE_REFUSED", "good.txt"],
  ["tar duplicate by ./", tarByHand([goodTar, { ...goodTar, name: "./good.txt" }]), "ARCHIVE_REFUSED", "good.txt"],
  ["file and folder of one name in a zip", zipByHand([good, { name: "good.txt/a" }]), "ALREADY_THERE", "good.txt/a"],
  ["file and folder of one name in a tar", tarByHand([{ name: "d/a" }, { name: "d" }]), "ARCHIVE_REFUSED", "d"],
  ["folder with content", zipByHand([good, { name: "d/", content: "x" }]), "ARCHIVE_REFUSED", "d"],
  [
    "more inflated than said",
    zipByHand([good, { name: "liar", content: "x".repeat(900), says: { bytes: 10 } }]),
    "ARCHIVE_CORRUPT",
    "liar",
  ],
  [
    "less inflated than said",
    zipByHand([good, { name: "liar", content: "xxx", says: { bytes: 900 } }]),
    "ARCHIVE_CORRUPT",
    "liar",
  ],
  ["wrong CRC", zipByHand([good, { name: "liar", content: "x", says: { crc32: 7 } }]), "ARCHIVE_CORRUPT", "liar"],
  [
    "content behind the zip's end",
    zipByHand([good, { ...stored, says: { packedBytes: 9_000_000, bytes: 9_000_000 } }]),
    "TOO_LARGE",
    "stored.bin",
  ],
  ["more entries than the zip says", zipByHand([good, { name: "hidden" }], { entryCount: 1 }), "ARCHIVE_CORRUPT", "1"],
  ["fewer entries than the zip says", zipByHand([good], { entryCount: 2 }), "ARCHIVE_CORRUPT", "good.txt"],
  [
    "too many zip entries",
    zipByHand(Array.from({ length: 6 }, (_, i) => ({ name: `f${i}` }))),
    "ARCHIVE_REFUSED",
    "f5",
  ],
  [
    "too many tar entries",
    tarByHand(Array.from({ length: 6 }, (_, i) => ({ name: `f${i}` }))),
    "ARCHIVE_REFUSED",
    "f5",
  ],
  [
    "too many bytes in a zip",
    zipByHand([good, { name: "big", content: Buffer.alloc(1_000_001), method: 0 }]),
    "TOO_LARGE",
    "big",
  ],
  [
    "too many bytes in a tar",
    tarByHand([goodTar, { name: "big", content: Buffer.alloc(1_000_001) }]),
    "TOO_LARGE",
    "big",
  ],
  ["zip bomb", zipByHand([good, { name: "bomb", content: Buffer.alloc(500_000) }]), "ARCHIVE_REFUSED", "bomb"],
  ["gzip bomb", tarGz([goodTar, { name: "bomb", content: Buffer.alloc(500_000) }]), "ARCHIVE_REFUSED", ""],
  [
    "bomb behind the end of a tar",
    gzipSync(Buffer.concat([tarByHand([goodTar]), Buffer.alloc(800_000)])),
    "ARCHIVE_REFUSED",
    "good.txt",
  ],
  [
    "tar file longer than the tar",
    tarByHand([goodTar, { name: "liar", content: "x", saysBytes: 900_000 }]),
    "ARCHIVE_CORRUPT",
    "liar",
  ],
  ["tar with a wrong header sum", tarByHand([goodTar, { name: "bad", wrongSum: true }]), "ARCHIVE_CORRUPT", "good.txt"],
  ["tar without its end", tarByHand([goodTar, { name: "last" }], { end: false }), "ARCHIVE_CORRUPT", "last"],
  [
    "tar that breaks off within a file",
    tarByHand([goodTar, { name: "cut", content: incompressible }]).subarray(0, 20_000),
    "ARCHIVE_CORRUPT",
    "cut",
  ],
  [
    "tar.gz that breaks off",
    tarGz([goodTar, { name: "cut", content: incompressible }]).subarray(0, 20_000),
    "ARCHIVE_CORRUPT",
    "cut",
  ],
  ["tar.gz with a wrong checksum", changed(tarGz([goodTar]), -6, 0), "ARCHIVE_CORRUPT", ""],
  ["gzip that is no tar", gzipSync("just a file\n".repeat(100)), "ARCHIVE_CORRUPT", ""],
  ["zip that breaks off", zipByHand([good, stored]).subarray(0, 600), "ARCHIVE_CORRUPT", ""],
  ["zip with bytes after its end", Buffer.concat([zipByHand([good]), Buffer.from("more")]), "ARCHIVE_CORRUPT", ""],
  [
    "damaged deflate",
    changed(zipByHand([{ name: "good.txt", content: incompressible }]), 400, 0xff),
    "ARCHIVE_CORRUPT",
    "good.txt",
  ],
  ["zip without files", zipByHand([]), "ARCHIVE_REFUSED", "no file"],
  ["tar with folders alone", tarByHand([{ name: "d/", type: "5" }]), "ARCHIVE_REFUSED", "no file"],
  ["no container", Buffer.from("<html>not found</html>"), "ARCHIVE_CORRUPT", "neither"],
  ["nothing", Buffer.alloc(0), "ARCHIVE_CORRUPT", "neither"],
];

describe("a container is refused, and the disk is as before,", () => {
  test.each(CORPUS.map(([what, archive, code, entry]) => ({ what, archive, code, entry })))(
    "$what",
    async ({ archive, code, entry }) => {
      await writeFile(join(base, "container"), archive);
      const before = await wholeDisk();
      const outcome = await unpack(archive, { limits: LIMITS });
      expect(outcome).toMatchObject({ ok: false, error: { code, retryable: false } });
      expect(outcome).toMatchObject({
        error: { message: expect.stringContaining(JSON.stringify(entry).slice(1, -1)) as unknown },
      });
      expect(await wholeDisk()).toEqual(before);
    },
  );

  test("when the caller gives up", async () => {
    const stop = new AbortController();
    const archive = tarByHand([goodTar, { name: "second", content: "x" }]);
    const outcome = await unpack(archive, { signal: stop.signal, onFile: () => stop.abort() });
    expect(outcome).toMatchObject({ error: { code: "ABORTED" } });
    expect(await namesHere()).toEqual([]);
  });

  test("when what the caller does with a file fails", async () => {
    const outcome = await unpack(await honestZip({ a: "x", b: "y" }), {
      onFile: () => Promise.reject(Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write" })),
    });
    expect(outcome).toMatchObject({ error: { code: "NO_SPACE", retryable: true } });
    expect(await namesHere()).toEqual([]);
  });
});
