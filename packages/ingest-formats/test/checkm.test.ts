import { describe, expect, test } from "@jest/globals";

import {
  describeProblem,
  type ManifestFailure,
  manifestRows,
  type ManifestSource,
  parseManifest,
  type ValidationOptions,
  validateManifest,
} from "../src/index.ts";

const OBJECT = "http://uc3.cdlib.org/registry/ingest/manifest/mrt-ingest-manifest";
const FILES = "http://uc3.cdlib.org/registry/ingest/manifest/mrt-single-file-batch-manifest";
const MD5 = "0b21c6d48e815dd537d42dc1cfac0111";

const manifest = (rows: readonly string[], profile = OBJECT): string =>
  ["#%checkm_0.7", `#%profile | ${profile}`, ...rows, "#%eof", ""].join("\n");

const row = (name: string): string => `https://example.org/${name} | md5 | ${MD5} | 12 |  | ${name} | text/plain`;

async function parse(source: ManifestSource, options: ValidationOptions = {}) {
  const result = await parseManifest(source, options);
  if (!result.ok) throw new Error(result.problems.map(describeProblem).join("\n"));
  return result;
}

async function problems(source: ManifestSource, options: ValidationOptions = {}): Promise<ManifestFailure["problems"]> {
  const result = await parseManifest(source, options);
  if (result.ok) throw new Error("it was accepted");
  return result.problems;
}

describe("an object manifest", () => {
  test("gives its rows with every column", async () => {
    const { kind, rows } = await parse(manifest([row("a.txt")]));
    expect(kind).toBe("object-manifest");
    expect(rows).toEqual([
      {
        row: 1,
        line: 3,
        fileUrl: "https://example.org/a.txt",
        digest: { algorithm: "md5", value: MD5 },
        fileSize: 12,
        fileName: "a.txt",
        mimeType: "text/plain",
        localIds: [],
      },
    ]);
  });

  test("may be short of columns at the end, and may have too many", async () => {
    const { rows } = await parse(
      manifest(["https://example.org/a", "https://example.org/b | | | | | b | text/plain | more | and more"]),
    );
    expect(rows.map(({ fileName, mimeType }) => [fileName, mimeType])).toEqual([
      [undefined, undefined],
      ["b", "text/plain"],
    ]);
  });

  test.each([
    ["CRLF", (text: string) => text.replaceAll("\n", "\r\n")],
    ["a byte order mark", (text: string) => `\uFEFF${text}`],
    ["no line end after #%eof", (text: string) => text.trimEnd()],
    ["#%EOF in capitals", (text: string) => text.replace("#%eof", "#%EOF")],
    ["blank lines and comments", (text: string) => text.replace("https", "\n# a comment\n\nhttps")],
    ["no #%checkm line", (text: string) => text.replace("#%checkm_0.7\n", "")],
    ["the alias of the profile", (text: string) => text.replace("ingest/manifest", "mrt")],
  ])("is read the same with %s", async (_name, change) => {
    const { rows } = await parse(change(manifest([row("a.txt")])));
    expect(rows.map(({ fileName }) => fileName)).toEqual(["a.txt"]);
  });

  test("is read the same whatever the chunks are", async () => {
    const text = manifest([row("a–é.txt"), row("b.txt")]);
    const bytes = Buffer.from(text);
    for (const size of [1, 2, 3, 7, 1000]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(await parse(chunks)).toEqual(await parse(text));
    }
  });

  test("accepts digest algorithms in any spelling, and ignores one without a value", async () => {
    const { rows } = await parse(
      manifest([
        "https://example.org/a | SHA-256 | ABCDEF | | | a",
        "https://example.org/b | nonsense | | | | b",
        "https://example.org/c | | abcdef | | | c",
      ]),
    );
    expect(rows.map(({ digest }) => digest)).toEqual([{ algorithm: "sha256", value: "abcdef" }, undefined, undefined]);
  });
});

describe("a batch manifest", () => {
  test("gives identifiers and descriptions of its objects", async () => {
    const { kind, rows } = await parse(
      manifest(["https://example.org/a | | | | | a.jpg | ark:/99999/fk4 | x; y ;x; | Someone | A title | 2009"], FILES),
    );
    expect(kind).toBe("single-file-batch-manifest");
    expect(rows[0]).toMatchObject({
      primaryId: "ark:/99999/fk4",
      localIds: ["x", "y"],
      creator: "Someone",
      title: "A title",
      date: "2009",
    });
  });

  test("may use one file name for several objects", async () => {
    expect((await parse(manifest([row("a"), row("a")], FILES))).rows).toHaveLength(2);
  });

  test("is refused under another kind's name", async () => {
    const found = await problems(manifest([row("a")], FILES), { kind: "object-manifest" });
    expect(found[0]).toMatchObject({ code: "PROFILE_MISMATCH", line: 2 });
  });

  test("goes on from the row where an expansion stopped", async () => {
    const seen: number[] = [];
    for await (const { row: number } of manifestRows(manifest([row("a"), row("b"), row("c")], FILES), { fromRow: 2 })) {
      seen.push(number);
    }
    expect(seen).toEqual([2, 3]);
  });
});

describe("a manifest is refused with row, column and what was expected", () => {
  const one = (line: string) => manifest([row("good"), line]);
  test.each([
    ["a size that is no number", one("https://e.org/a | | | 12kB | | a"), "SIZE_MALFORMED", "fileSize"],
    ["an unknown algorithm", one("https://e.org/a | sha3 | ab | | | a"), "DIGEST_ALGORITHM_UNKNOWN", "hashAlgorithm"],
    ["md2", one("https://e.org/a | md2 | ab | | | a"), "DIGEST_ALGORITHM_UNSUPPORTED", "hashAlgorithm"],
    ["a URL that is none", one("hello | | | | | a"), "URL_MALFORMED", "fileUrl"],
    ["an unknown scheme", one("hzzttps://e.org/a | | | | | a"), "URL_SCHEME", "fileUrl"],
    ["a file URL", one("file:///etc/passwd | | | | | a"), "URL_SCHEME", "fileUrl"],
    ["a password in a URL", one("https://me:secret@e.org/a | | | | | a"), "URL_USERINFO", "fileUrl"],
    ["a name used twice", one(row("good")), "NAME_DUPLICATE", "fileName"],
  ])("for %s", async (_name, text, code, column) => {
    const found = await problems(text);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ code, column, row: 2, line: 4 });
    expect(found[0]!.expected).toBeTruthy();
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  test.each([
    ["no profile", manifest([row("a")]).replace(/#%profile.*\n/, ""), "PROFILE_MISSING"],
    ["an unknown profile", manifest([row("a")], "http://example.org/x"), "PROFILE_UNKNOWN"],
    ["no #%eof", manifest([row("a")]).replace("#%eof\n", ""), "EOF_MISSING"],
    ["an empty line after #%eof", `${manifest([row("a")])}\n`, "TEXT_AFTER_EOF"],
    ["rows after #%eof", `${manifest([row("a")])}${row("b")}\n`, "TEXT_AFTER_EOF"],
    ["no rows", manifest([]), "MANIFEST_EMPTY"],
    ["nothing at all", "", "PROFILE_MISSING"],
    ["NUL", manifest([row("a\0b")]), "NUL_CHARACTER"],
    ["a line of ten megabytes", manifest(["x".repeat(10_000_000)]), "LINE_TOO_LONG"],
  ])("for %s", async (_name, text, code) => {
    expect((await problems(text)).map((problem) => problem.code)).toEqual([code]);
  });

  test("for bytes that are not UTF-8", async () => {
    const text = Buffer.concat([Buffer.from(manifest([row("a")]).slice(0, 120)), Buffer.from([0xc3, 0x28, 0x0a])]);
    expect((await problems([text]))[0]).toMatchObject({ code: "NOT_UTF8" });
  });

  test("for UTF-8 that is cut off in a character", async () => {
    expect((await problems([Buffer.from([0x23, 0xc3])]))[0]).toMatchObject({ code: "NOT_UTF8" });
  });

  test("for more bytes than allowed, without reading on", async () => {
    let pulled = 0;
    function* endless() {
      yield manifest([]).replace("#%eof\n", "");
      for (;;) {
        pulled += 1;
        yield `${row(String(pulled))}\n`;
      }
    }
    expect((await problems(endless(), { maxBytes: 5_000 }))[0]).toMatchObject({ code: "MANIFEST_TOO_LARGE" });
    expect(pulled).toBeLessThan(100);
  });

  test("with every faulty row named, up to a limit", async () => {
    const text = manifest(Array.from({ length: 300 }, (_, i) => `hello | | | | | name${i}`));
    const result = await parseManifest(text, { problemLimit: 20 });
    expect(result).toMatchObject({ ok: false, truncated: true });
    expect(result.ok ? [] : result.problems.map((problem) => problem.row)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
  });
});

test("without any header, the submission's type decides, as in production", async () => {
  const { kind, rows } = await parse(`${row("a")}\n#%eof`, { kind: "object-manifest" });
  expect([kind, rows.length]).toEqual(["object-manifest", 1]);
});

test("a validation tells what is to come and keeps no row", async () => {
  expect(await validateManifest(manifest([row("a"), row("b"), "https://example.org/c | | | | | c"]))).toEqual({
    ok: true,
    kind: "object-manifest",
    rowCount: 3,
    knownBytes: 24,
    rowsWithoutSize: 1,
  });
});
