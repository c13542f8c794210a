import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  ContainedFolder,
  copyTo,
  folderSize,
  meterStream,
  type Outcome,
  parseName,
  TEMP_PREFIX,
  volumeSpace,
} from "../src/index.ts";

let base: string;
let folder: ContainedFolder;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "sluice-folder-"));
  folder = value(await ContainedFolder.open(join(base, "job")));
  await writeFile(join(base, "outside.txt"), "untouched");
});
afterEach(() => rm(base, { recursive: true, force: true }));

function value<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`${outcome.error.code}: ${outcome.error.message}`);
  return outcome.value;
}

const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? "it worked" : outcome.error.code);

describe("names that are stored byte for byte", () => {
  test.each([
    "a.txt",
    "a b  c.txt",
    " leading and trailing ",
    "100%.txt",
    "a+b&c=d#e?.txt",
    "%2e%2e",
    "%2e%2e%2fetc%2fpasswd",
    "%00.txt",
    "🦆/🜂.txt",
    "שלום.txt",
    "\u202Egpj.exe",
    "e\u0301 combining",
    "\u00E9 composed",
    "a|b.txt",
    "a:b.txt",
    "CON",
    "name.",
    "...",
    "..a",
    "a..",
    "-rf",
    "~",
    "$(touch x)",
    "'quotes\"",
    "\u00A0no-break\u00A0",
    "deep/er/and/deeper/file",
    ".hidden",
    "é".repeat(127),
    "x".repeat(255),
  ])("%j", async (name) => {
    value(await folder.write(name, "content"));
    expect(value(await folder.files()).map((file) => file.name)).toEqual([name]);
    expect(value(await folder.read(name)).toString()).toBe("content");
  });

  test("composed and decomposed, upper and lower case are different files", async () => {
    const names = ["e\u0301", "\u00E9", "readme", "README"];
    for (const name of names) value(await folder.write(name, name));
    expect(value(await folder.files()).map((file) => file.name)).toEqual([...names].sort());
  });
});

describe("names that are refused", () => {
  test.each([
    "",
    ".",
    "..",
    "../outside.txt",
    "../../etc/passwd",
    "a/../../outside.txt",
    "a/..",
    "./a",
    "a/./b",
    "/etc/passwd",
    "//etc/passwd",
    "a//b",
    "a/",
    "C:/Windows",
    "..\\outside.txt",
    "a\\b",
    "\\\\server\\share",
    "a\0b",
    "a\nb",
    "a\rb",
    "a\tb",
    "a\u007Fb",
    "\uD800lone",
    "lone\uDC00",
    "x".repeat(256),
    "é".repeat(128),
    "a".repeat(300),
    Array.from({ length: 1000 }, () => "abcd").join("/"),
    `${TEMP_PREFIX}x`,
    `a/${TEMP_PREFIX}x/b`,
  ])("%j", async (name) => {
    expect(codeOf(parseName(name))).toBe("NAME_REFUSED");
    for (const operation of [
      folder.write(name, "x"),
      folder.read(name),
      folder.remove(name),
      folder.sub(name),
      folder.stat(name),
      folder.move(name, folder, "b"),
      folder.begin(name),
      folder.readStream(name),
    ]) {
      expect(codeOf(await operation)).toBe("NAME_REFUSED");
    }
    expect(codeOf(folder.pathOf(name))).toBe("NAME_REFUSED");
    expect(await readdir(base)).toEqual(["job", "outside.txt"]);
    expect(await readdir(folder.root)).toEqual([]);
  });
});

describe("a link inside the folder", () => {
  test("is not followed as a folder", async () => {
    await symlink(base, join(folder.root, "link"));
    for (const operation of [
      folder.write("link/outside.txt", "x"),
      folder.read("link/outside.txt"),
      folder.sub("link"),
      folder.stat("link/outside.txt"),
      folder.readStream("link/outside.txt"),
    ]) {
      expect(codeOf(await operation)).toBe("LINK_REFUSED");
    }
    expect(codeOf(await folder.remove("link/outside.txt"))).toBe("LINK_REFUSED");
    expect(codeOf(await folder.move("link/outside.txt", folder, "mine.txt"))).toBe("LINK_REFUSED");
    expect(await readFile(join(base, "outside.txt"), "utf8")).toBe("untouched");
  });

  test("is not followed as a file, and is replaced by a write", async () => {
    await symlink(join(base, "outside.txt"), join(folder.root, "link.txt"));
    expect(codeOf(await folder.read("link.txt"))).toBe("LINK_REFUSED");
    expect(codeOf(await folder.files())).toBe("LINK_REFUSED");
    value(await folder.write("link.txt", "mine"));
    expect(await readFile(join(base, "outside.txt"), "utf8")).toBe("untouched");
    expect(value(await folder.read("link.txt")).toString()).toBe("mine");
  });

  test("is removed, not what it points to", async () => {
    await mkdir(join(base, "other"));
    await writeFile(join(base, "other", "file"), "x");
    await mkdir(join(folder.root, "tree"));
    await symlink(join(base, "other"), join(folder.root, "tree", "link"));
    value(await folder.remove("tree"));
    expect(await readdir(join(base, "other"))).toEqual(["file"]);
    expect(await readdir(folder.root)).toEqual([]);
  });
});

describe("files", () => {
  test("appear whole or not at all", async () => {
    value(await folder.write("a.txt", "old"));
    const file = value(await folder.begin("a.txt"));
    await file.handle.write("new, but not yet");
    expect(value(await folder.read("a.txt")).toString()).toBe("old");
    expect(value(await folder.files())).toHaveLength(1);
    await file.abandon();
    expect(await readdir(folder.root)).toEqual(["a.txt"]);
    value(await folder.write("a.txt", "new"));
    expect(value(await folder.read("a.txt")).toString()).toBe("new");
  });

  test("are listed with size, in order, with their folders", async () => {
    value(await folder.write("b/2", "22"));
    value(await folder.write("a", "1"));
    value(await folder.write("b/1", "1"));
    expect(value(await folder.files()).map(({ name, bytes }) => [name, bytes])).toEqual([
      ["a", 1],
      ["b/1", 1],
      ["b/2", 2],
    ]);
    expect(value(await folderSize(folder.root))).toBe(4);
    expect(value(await folder.stat("b/2")).bytes).toBe(2);
  });

  test("are read as streams", async () => {
    value(await folder.write("a", "hello"));
    const { bytes, digests } = await meterStream(value(await folder.readStream("a")), ["md5"]);
    expect([bytes, digests.md5]).toEqual([5, "5d41402abc4b2a76b9719d911017c592"]);
  });

  test("that are not there are told apart", async () => {
    expect(codeOf(await folder.read("none"))).toBe("NOT_FOUND");
    expect(codeOf(await folder.stat("no/ne"))).toBe("NOT_FOUND");
    expect(codeOf(await folder.remove("no/ne"))).toBe("it worked");
    expect(await folderSize(join(base, "none"))).toEqual({ ok: true, value: 0 });
  });

  test("and folders of the same name exclude each other", async () => {
    value(await folder.write("a", "x"));
    expect(await folder.write("a/b", "x")).toMatchObject({ error: { code: "ALREADY_THERE", retryable: false } });
    value(await folder.write("c/d", "x"));
    // A depositor reads it: it names the file, and no place on our disk.
    expect(await folder.write("c", "x")).toEqual({
      ok: false,
      error: { code: "ALREADY_THERE", message: "c: EISDIR", retryable: false },
    });
    expect(value(await folder.files()).map((file) => file.name)).toEqual(["a", "c/d"]);
    expect(await readdir(folder.root)).toEqual(["a", "c"]);
  });

  test("are not world-readable", async () => {
    value(await folder.write("a/b", "x"));
    expect((await stat(join(folder.root, "a/b"))).mode & 0o777).toBe(0o640);
    expect((await stat(join(folder.root, "a"))).mode & 0o777).toBe(0o750);
  });
});

describe("a copy", () => {
  const HELLO_MD5 = "5d41402abc4b2a76b9719d911017c592";
  const leftIn = async (sub: string): Promise<string[]> => readdir(join(folder.root, sub));

  test("is whole, and tells its digests", async () => {
    const seen: number[] = [];
    value(await folder.write("from/a", "hello"));
    const copied = await copyTo(folder, "from/a", folder, "to/b", {
      expectedDigest: { algorithm: "md5", value: HELLO_MD5.toUpperCase() },
      expectedBytes: 5,
      onProgress: (bytes) => seen.push(bytes),
    });
    expect(copied).toEqual({ ok: true, value: { bytes: 5, digests: { md5: HELLO_MD5 } } });
    expect(value(await folder.read("to/b")).toString()).toBe("hello");
    expect(seen).toEqual([5]);
  });

  test("of something else than expected is not there, whatever was wrong", async () => {
    value(await folder.write("from/a", "other"));
    await mkdir(join(folder.root, "to"));
    const digest = { algorithm: "md5", value: HELLO_MD5 } as const;
    expect(codeOf(await copyTo(folder, "from/a", folder, "to/b", { expectedDigest: digest }))).toBe("DIGEST_MISMATCH");
    expect(codeOf(await copyTo(folder, "from/a", folder, "to/b", { expectedBytes: 4 }))).toBe("SIZE_MISMATCH");
    expect(codeOf(await copyTo(folder, "from/a", folder, "to/b", { signal: AbortSignal.abort() }))).toBe("ABORTED");
    expect(codeOf(await copyTo(folder, "from/none", folder, "to/b"))).toBe("NOT_FOUND");
    expect(codeOf(await copyTo(folder, "from/a", folder, "../b"))).toBe("NAME_REFUSED");
    expect(await leftIn("to")).toEqual([]);
  });

  test("with a wrong digest is kept aside as evidence, if there is a place for it", async () => {
    value(await folder.write("from/a", "other"));
    const rejected = { folder, name: "rejected/x/b" };
    const digest = { algorithm: "md5", value: HELLO_MD5 } as const;
    const options = { expectedDigest: digest, rejected };
    expect(codeOf(await copyTo(folder, "from/a", folder, "to/b", options))).toBe("DIGEST_MISMATCH");
    expect(await leftIn("to")).toEqual([]);
    expect(value(await folder.read("rejected/x/b")).toString()).toBe("other");
    const nowhere = { ...options, rejected: { folder, name: "../b" } };
    expect(codeOf(await copyTo(folder, "from/a", folder, "to/b", nowhere))).toBe("DIGEST_MISMATCH");
    expect(await leftIn("to")).toEqual([]);
  });
});

test("a cleared folder has nothing in it, not even what is unfinished", async () => {
  value(await folder.write("a/b", "x"));
  await value(await folder.begin("c")).handle.close();
  expect(await folder.isEmpty()).toEqual({ ok: true, value: false });
  value(await folder.clear());
  expect(await folder.isEmpty()).toEqual({ ok: true, value: true });
});

describe("a tree", () => {
  test("moves in one step, for example to a recycle area", async () => {
    const recycle = value(await ContainedFolder.open(join(base, "recycle")));
    value(await folder.write("job1/producer/a", "x"));
    value(await folder.move("job1", recycle, "2026/job1"));
    expect(value(await folder.files())).toEqual([]);
    expect(value(await recycle.files()).map((file) => file.name)).toEqual(["2026/job1/producer/a"]);
  });

  test("does not replace one that is there", async () => {
    value(await folder.write("a/1", "x"));
    value(await folder.write("b/1", "x"));
    expect(codeOf(await folder.move("a", folder, "b"))).toBe("ALREADY_THERE");
    expect(codeOf(await folder.move("c", folder, "d"))).toBe("NOT_FOUND");
  });

  test("has folders of its own that hold in turn", async () => {
    const sub = value(await folder.sub("jid/producer"));
    expect(codeOf(await sub.write("../x", "x"))).toBe("NAME_REFUSED");
    value(await sub.write("x", "x"));
    expect(value(await folder.files()).map((file) => file.name)).toEqual(["jid/producer/x"]);
  });
});

test("a volume tells its size and what is left", async () => {
  const { totalBytes, freeBytes } = value(await volumeSpace(base));
  expect(totalBytes).toBeGreaterThan(0);
  expect(freeBytes).toBeLessThanOrEqual(totalBytes);
  expect(codeOf(await volumeSpace(join(base, "none")))).toBe("NOT_FOUND");
});
