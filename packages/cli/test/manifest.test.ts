import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { MANIFEST_KINDS } from "@sluice/ingest-formats";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "./support.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "sluice-manifest-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const HEAD = [
  "#%checkm_0.7",
  `#%profile | ${MANIFEST_KINDS["single-file-batch-manifest"].profile}`,
  "#%prefix | mrt: | http://uc3.cdlib.org/ontology/mrt/mom#",
  "#%prefix | nfo: | http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#",
  "#%fields | nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName | mrt:primaryIdentifier | mrt:localIdentifier | mrt:creator | mrt:title | mrt:date",
];

const manifest = (...rows: readonly string[]) =>
  writeFile(join(cwd, "batch.checkm"), [...HEAD, ...rows, "#%eof", ""].join("\n"));

test("a good manifest is counted, without any service", async () => {
  await manifest("http://example.org/1 | | | 1000 | | 1.txt", "http://example.org/2 | | | | | 2.txt");
  const { code, out } = await sluice("manifest check batch.checkm", { cwd });
  expect([code, out]).toEqual([
    0,
    expect.stringContaining("is a good single-file-batch-manifest: 2 rows, 1.0 kB, 1 without a size"),
  ]);
});

test("a bad one is told with every row and column, and 2", async () => {
  await manifest("ftp://example.org/1 | | | x | | 1.txt", "nonsense | | | | | 2.txt");
  const { code, out, err } = await sluice("manifest check batch.checkm", { cwd });
  expect(code).toBe(2);
  expect(out).toMatch(/^ +6 +1 +fileUrl /m);
  expect(out).toMatch(/^ +6 +1 +fileSize /m);
  expect(out).toMatch(/^ +7 +2 +fileUrl /m);
  expect(err).toContain("3 problems");
  const json = JSON.parse((await sluice("manifest check batch.checkm -o json", { cwd })).out) as {
    problems: unknown[];
  };
  expect(json.problems).toHaveLength(3);
});

test("a file that is not there is 3", async () => {
  expect((await sluice("manifest check none.checkm", { cwd })).code).toBe(3);
});
