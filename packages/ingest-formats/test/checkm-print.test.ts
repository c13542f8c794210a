import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import {
  DIGEST_ALGORITHMS,
  MANIFEST_KINDS,
  type ManifestKind,
  parseManifest,
  type PrintableRow,
  printManifest,
  printStorageManifest,
  validateManifest,
} from "../src/index.ts";

const kinds = Object.keys(MANIFEST_KINDS) as ManifestKind[];

/** Text that a cell can carry: it is trimmed when read, and `|` ends it. */
const cell = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .map((text) => text.replaceAll(/[|\0\r\n]/g, "").replaceAll(/^[\t-\r ]+|[\t-\r ]+$/g, ""))
  .filter((text) => text !== "");
const localId = cell.map((text) => text.replaceAll(";", "").trim()).filter((text) => text !== "");

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

function rowOf(kind: ManifestKind): fc.Arbitrary<PrintableRow> {
  const columns: readonly string[] = MANIFEST_KINDS[kind].columns;
  const only = <T>(column: string, value: fc.Arbitrary<T>) =>
    columns.includes(column) ? optional(value) : fc.constant(undefined);
  return fc
    .record({
      fileUrl: only("fileUrl", fc.webUrl({ withQueryParameters: true })),
      digest: optional(
        fc.record({
          algorithm: fc.constantFrom(...DIGEST_ALGORITHMS),
          value: fc.stringMatching(/^[0-9a-f]{8,128}$/),
        }),
      ),
      fileSize: optional(fc.nat()),
      fileLastModified: optional(cell),
      fileName: cell,
      mimeType: only("mimeType", cell),
      primaryId: only("primaryIdentifier", cell),
      localIds: columns.includes("localIdentifier") ? fc.uniqueArray(localId, { maxLength: 3 }) : fc.constant([]),
      creator: only("creator", cell),
      title: only("title", cell),
      date: only("date", cell),
    })
    .filter(({ fileName }) => !fileName.startsWith("#"))
    .map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as PrintableRow);
}

describe("printing and reading a manifest give the same rows", () => {
  test.each(kinds)("%s", async (kind) => {
    const rows = fc.uniqueArray(rowOf(kind), { minLength: 1, maxLength: 5, selector: (row) => row.fileName });
    await fc.assert(
      fc.asyncProperty(rows, async (expected) => {
        const text = printManifest(kind, expected);
        const read = await parseManifest(text.ok ? text.value : "", { kind });
        const found = read.ok ? read.rows.map(({ row: _row, line: _line, ...rest }) => rest) : read.problems;
        expect(found).toEqual(expected.map((row) => ({ localIds: [], ...row })));
      }),
      { numRuns: 50 },
    );
  });
});

test("a storage manifest looks like Merritt's own", () => {
  const text = printStorageManifest([
    {
      fileUrl: "http://ingest.example.org/queue/producer/hello.txt",
      digest: { algorithm: "sha256", value: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" },
      fileSize: 5,
      fileLastModified: "2017-10-03T15:29:19-07:00",
      fileName: "producer/hello.txt",
      mimeType: "text/plain",
    },
  ]);
  expect(text).toEqual({
    ok: true,
    value: `#%checkm_0.7
#%profile | http://uc3.cdlib.org/registry/store/manifest/mrt-add-manifest
#%prefix | nfo:<http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#>
#%prefix | nie:<http://www.semanticdesktop.org/ontologies/2007/01/19/nie/#>
#%prefix | mrt:<http://uc3.cdlib.org/ontology/mrt/mom#>
#%columns | nfo:fileURL | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName | nie:mimeType
http://ingest.example.org/queue/producer/hello.txt | sha256 | 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 | 5 | 2017-10-03T15:29:19-07:00 | producer/hello.txt | text/plain
#%eof
`,
  });
});

describe("file names in a storage manifest", () => {
  const fileUrl = "http://example.org/a";
  const nameIn = async (fileName: string): Promise<unknown> => {
    const text = printManifest("storage-manifest", [{ fileUrl, fileName }]);
    const read = await parseManifest(text.ok ? text.value : "");
    return read.ok ? read.rows.map((row) => row.fileName) : read.problems;
  };

  test("come back as they were, whatever they are", async () => {
    const nasty = fc.string({
      unit: fc.constantFrom("|", "%", "7", "C", "c", "2", "5", "0", " ", "\t", "\n", "\r", "\0", "#", "é", "😀", "a"),
      minLength: 1,
      maxLength: 12,
    });
    const anything = fc.oneof(nasty, fc.string({ unit: "grapheme", minLength: 1 }));
    await fc.assert(fc.asyncProperty(anything, async (name) => expect(await nameIn(name)).toEqual([name])));
  });

  test.each([
    ["producer/100 % sure, 50%.txt", "producer/100 % sure, 50%.txt"],
    ["producer/%2e%2e/x", "producer/%2e%2e/x"],
    ["producer/a|b.txt", "producer/a%7Cb.txt"],
    ["producer/a%7Cb.txt", "producer/a%257Cb.txt"],
    ["producer/ends ", "producer/ends%20"],
  ])("are escaped only where they must be: %j is %j", (name, cell) => {
    const text = printManifest("storage-manifest", [{ fileUrl, fileName: name }]);
    expect(text.ok && text.value).toContain(` | ${cell} | `);
  });
});

test.each(["a|b", "a\nb", "a\rb", "a\0b", " a", "a "])(
  "a name that a manifest cannot carry is refused: %j",
  (fileName) => {
    const text = printManifest("object-manifest", [{ fileUrl: "http://example.org/a", fileName }]);
    expect(text).toMatchObject({ ok: false, problems: [{ code: "VALUE_UNPRINTABLE", row: 1, column: "fileName" }] });
  },
);

test("a million rows are validated in less than 300 MB", async () => {
  let peak = 0;
  const before = process.memoryUsage().heapUsed;
  function* chunks() {
    yield `#%profile | ${MANIFEST_KINDS["object-manifest"].profile}\n`;
    for (let i = 0; i < 1_000_000; i += 1000) {
      const rows = Array.from(
        { length: 1000 },
        (_, k) =>
          `https://content.example.org/path/to/the/file/${i + k}.tiff | md5 | 0b21c6d48e815dd537d42dc1cfac0111 | 1024 |  | images/${i + k}.tiff | image/tiff\n`,
      );
      yield Buffer.from(rows.join(""));
      peak = Math.max(peak, process.memoryUsage().heapUsed - before);
    }
    yield "#%eof\n";
  }
  expect(await validateManifest(chunks())).toMatchObject({ ok: true, rowCount: 1_000_000, knownBytes: 1_024_000_000 });
  expect(peak).toBeLessThan(300 * 1024 * 1024);
});
