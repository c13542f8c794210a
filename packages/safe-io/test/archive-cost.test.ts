/** What an archive may cost while it is unpacked: folders, time, and the wish of whoever waits to stop it. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ContainedFolder, type Outcome, type Unpacked, unpackTo, type UnpackOptions } from "../src/index.ts";
import { paxName, tarByHand, zipByHand } from "./evil-archives.ts";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "sluice-cost-"));
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function folderAt(name: string): Promise<ContainedFolder> {
  const opened = await ContainedFolder.open(join(base, name));
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

async function unpack(name: string, archive: Buffer, options: UnpackOptions = {}): Promise<Outcome<Unpacked>> {
  const folder = await folderAt("container");
  await writeFile(join(folder.root, name), archive);
  return unpackTo(await folderAt("."), `container/${name}`, await folderAt("producer"), options);
}

const left = (): Promise<readonly string[]> => readdir(join(base, "producer"));

const tarOf = (names: readonly string[]): Buffer =>
  tarByHand(names.flatMap((name) => (name.length > 99 ? [paxName(name), { name: "x" }] : [{ name }])));
const zipOf = (names: readonly string[]): Buffer => zipByHand(names.map((name) => ({ name })));
const KINDS: readonly (readonly [name: string, pack: (names: readonly string[]) => Buffer])[] = [
  ["d.zip", zipOf],
  ["d.tar", tarOf],
  ["d.tar.gz", (names) => gzipSync(tarOf(names))],
];
const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `f${at}`);

describe.each(KINDS)("in %s", (name, pack) => {
  const limits = { maxFoldersBeyondFiles: 3 };

  test("folders that must be made may exceed the files by a number, and no more", async () => {
    expect(await unpack(name, pack(["a/b/1", "c/d/2", "e/3"]), { limits })).toMatchObject({ ok: true });
    await (await folderAt("producer")).clear();
    const outcome = await unpack(name, pack(["1", "a/b/c/d/e/2", "x/y/3"]), { limits });
    expect(outcome).toMatchObject({
      error: {
        code: "ARCHIVE_REFUSED",
        message: expect.stringMatching(/^"x\/y\/3": .*3 folders more than files.*pack it flatter/) as unknown,
      },
    });
    expect(await left()).toEqual([]);
  });

  test("folders that are only named cost nothing", async () => {
    const outcome = await unpack(name, pack(["a/", "b/", "c/", "d/", "e/", "f/", "a/1"]), { limits });
    expect(outcome).toMatchObject({ ok: true, value: { files: 1 } });
  });

  test("whoever gives up is heard at the next entry, also where no entry has a byte", async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const outcome = await unpack(name, pack(numbered(50)), {
      signal: stop.signal,
      onFile: (file) => {
        seen.push(file.name);
        if (seen.length === 3) stop.abort();
      },
    });
    expect(outcome).toMatchObject({ error: { code: "ABORTED" } });
    expect(seen).toEqual(["f0", "f1", "f2"]);
    expect(await left()).toEqual([]);
  });

  test("more time than allowed ends it at the next entry, and the fault says what to do", async () => {
    let nowMs = 0;
    const seen: string[] = [];
    const outcome = await unpack(name, pack(numbered(50)), {
      limits: { maxMs: 60_000 },
      nowMs: () => nowMs,
      onFile: (file) => {
        seen.push(file.name);
        nowMs += 31_000;
      },
    });
    expect(outcome).toMatchObject({
      error: {
        code: "ARCHIVE_TIMEOUT",
        retryable: false,
        message: expect.stringMatching(/^"f2": .*60 s.*2 files.*several smaller containers/) as unknown,
      },
    });
    expect(seen).toEqual(["f0", "f1"]);
    expect(await left()).toEqual([]);
  });
});

test("a large container has more time", async () => {
  let nowMs = 0;
  const content = Buffer.alloc(100_000, 7);
  const archive = tarByHand([{ name: "1", content }, { name: "2" }]);
  const limits = { maxMs: 1_000, minBytesPerSecond: 1_000 };
  const slow = (step: number): UnpackOptions => ({ limits, nowMs: () => nowMs, onFile: () => void (nowMs += step) });
  expect(await unpack("d.tar", archive, slow(100_000))).toMatchObject({ ok: true });
  await (await folderAt("producer")).clear();
  nowMs = 0;
  expect(await unpack("d.tar", archive, slow(200_000))).toMatchObject({ error: { code: "ARCHIVE_TIMEOUT" } });
});

test("files that each have sixty folders of their own are refused before they fill the volume", async () => {
  const [files, maxFoldersBeyondFiles] = [20_000, 1_000];
  const names = Array.from({ length: files }, (_, at) => `d${at}/${"a/".repeat(59)}f`);
  const made: string[] = [];
  const outcome = await unpack("d.tar.gz", gzipSync(tarOf(names)), {
    limits: { maxFoldersBeyondFiles },
    onFile: ({ name }) => void made.push(name),
  });
  expect(outcome).toMatchObject({ error: { code: "ARCHIVE_REFUSED" } });
  expect(made).toHaveLength(Math.floor(maxFoldersBeyondFiles / 59));
  expect(await left()).toEqual([]);
});
