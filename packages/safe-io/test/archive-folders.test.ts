/** What costs more than it seems: folders that no entry names, headers that count for all entries. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  ARCHIVE_LIMITS,
  ContainedFolder,
  type Outcome,
  type Unpacked,
  unpackTo,
  type UnpackOptions,
} from "../src/index.ts";
import { bzip2, withBzip2 } from "./bzip2-tool.ts";
import { paxName, tarByHand, zipByHand } from "./evil-archives.ts";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "sluice-folders-"));
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function folderAt(name: string): Promise<ContainedFolder> {
  const opened = await ContainedFolder.open(join(base, name));
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

async function unpack(name: string, archive: Buffer, limits: UnpackOptions["limits"] = {}): Promise<Outcome<Unpacked>> {
  const folder = await folderAt("container");
  await writeFile(join(folder.root, name), archive);
  return unpackTo(await folderAt("."), `container/${name}`, await folderAt("producer"), { limits });
}

/** a/a/a/…/file: as many folders as `depth` says. */
const deep = (first: string, depth: number): string => `${first}/${"a/".repeat(depth - 1)}f`;

const tarOf = (names: readonly string[]): Buffer =>
  tarByHand(names.flatMap((name) => (name.length > 99 ? [paxName(name), { name: "x" }] : [{ name }])));
const zipOf = (names: readonly string[]): Buffer => zipByHand(names.map((name) => ({ name })));

const KINDS: readonly (readonly [name: string, pack: (names: readonly string[]) => Buffer])[] = [
  ["d.zip", zipOf],
  ["d.tar", tarOf],
  ["d.tar.gz", (names) => gzipSync(tarOf(names), { level: 9 })],
];
const BZIP2 = ["d.tar.bz2", (names: readonly string[]) => bzip2(tarOf(names))] as const;

describe.each(KINDS)("in %s", (name, pack) => {
  test("an entry below more folders than the limit is refused, and nothing is left", async () => {
    const outcome = await unpack(name, pack(["ok", deep("d", ARCHIVE_LIMITS.maxDepth + 1)]));
    expect(outcome).toMatchObject({
      error: { code: "ARCHIVE_REFUSED", message: expect.stringContaining("100 folders deep") as unknown },
    });
    expect(await readdir(join(base, "producer"))).toEqual([]);
  });

  test("an entry as deep as the limit is unpacked", async () => {
    expect(await unpack(name, pack([deep("d", ARCHIVE_LIMITS.maxDepth)]))).toMatchObject({ ok: true });
  });

  test("folders that no entry names count as entries, each once", async () => {
    const limits = { maxEntries: 6 };
    expect(await unpack(name, pack(["a/b/1", "a/b/2", "a/c/3"]), limits)).toMatchObject({ ok: true });
    await (await folderAt("producer")).clear();
    expect(await unpack(name, pack(["a/b/1", "a/b/2", "a/c/d/3"]), limits)).toMatchObject({
      error: { code: "ARCHIVE_REFUSED", message: expect.stringContaining("more than 6 entries") as unknown },
    });
  });

  test("a folder that is named and implied counts once", async () => {
    expect(await unpack(name, pack(["a/", "a/b/", "a/b/1"]), { maxEntries: 3 })).toMatchObject({ ok: true });
  });
});

withBzip2("in a tar.bz2 they count as well", async () => {
  const [name, pack] = BZIP2;
  expect(await unpack(name, pack(["a/b/c/1"]), { maxEntries: 3 })).toMatchObject({
    error: { code: "ARCHIVE_REFUSED" },
  });
  expect(await unpack(name, pack([deep("d", 101)]))).toMatchObject({ error: { code: "ARCHIVE_REFUSED" } });
});

describe("a few hundred bytes", () => {
  test("that would make tens of thousands of folders are refused before they fill the volume", async () => {
    const names = Array.from({ length: 300 }, (_, i) => deep(`d${i}`, 99));
    const archive = gzipSync(tarOf(names), { level: 9 });
    expect(archive.length).toBeLessThan(20_000);
    const outcome = await unpack("d.tar.gz", archive);
    expect(outcome).toMatchObject({
      error: { code: "ARCHIVE_REFUSED", message: expect.stringContaining("entries for its size") as unknown },
    });
    expect(await readdir(join(base, "producer"))).toEqual([]);
  });

  test("with as many small files as an honest packer makes of them are unpacked", async () => {
    const names = Array.from({ length: 1_500 }, (_, i) => `pages/${String(i).padStart(6, "0")}.txt`);
    expect(await unpack("d.tar.gz", gzipSync(tarOf(names)))).toMatchObject({ ok: true, value: { files: 1_500 } });
  });
});

describe("the global header of a tar", () => {
  const tarWith = (records: number): Buffer => {
    const content = Array.from({ length: records }, (_, at) => `10 ${String(at).padStart(4, "0")}=1\n`).join("");
    return tarByHand([{ name: "pax_global_header", type: "g", content }, paxName("f"), { name: "x", content: "y" }]);
  };

  test("with more records than any packer writes is refused: each header would be given all of them", async () => {
    for (const [name, tar] of Object.entries({ "g.tar": tarWith(101), "g.tar.gz": gzipSync(tarWith(5_000)) }))
      expect(await unpack(name, tar)).toMatchObject({
        error: { code: "ARCHIVE_REFUSED", message: "its global header has more than 100 records" },
      });
    expect(await readdir(join(base, "producer"))).toEqual([]);
  });

  test("with a few is read", async () => {
    expect(await unpack("g.tar", tarWith(100))).toMatchObject({ ok: true, value: { files: 1 } });
  });
});
