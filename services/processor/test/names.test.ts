import { describe, expect, test } from "@jest/globals";
import { fileURLToPath } from "node:url";
import { unescapeFileName } from "@sluice/ingest-formats";
import { Laboratory } from "./support/deposit.ts";
import { validateRoot } from "./support/ocfl-validator/root-rules.ts";
import { objectOf, storedVersion } from "./support/stored-version.ts";

/** Names that have broken archives. */
const NAMES = [
  "with space.txt",
  " leading and trailing ",
  "100%.txt",
  "%2e%2e%2fetc%2fpasswd",
  "%00.txt",
  "a%7Cb%25.txt",
  "a|b|c.txt",
  "plus+and&=?#;.txt",
  "שלום עולם.txt",
  "e\u0301 combining.txt",
  "\u00E9 composed.txt",
  "👩‍🔬 emoji.txt",
  "\u202Etxt.exe",
  "no-break\u00A0",
  "...",
  "~",
  "-rf",
  "#comment",
  "quote\"'`$(x).txt",
  `${"é".repeat(127)}a`,
  "deep/er/and deeper/file.txt",
];

const producerRows = (manifest: string): string[][] =>
  manifest
    .split("\n")
    .filter((line) => line.includes("/producer/"))
    .map((line) => line.split("|").map((cell) => cell.replaceAll(/^ | $/g, "")));

describe("file names", () => {
  test.each(NAMES)("%j is stored byte for byte, and the storage manifest names it", async (name) => {
    const laboratory = await Laboratory.open();
    const attempt = await laboratory.job({ files: { [name]: name } }).run();
    const stored = storedVersion(attempt);
    expect(stored.paths.filter((path) => path.startsWith("producer/"))).toEqual([`producer/${name}`]);
    expect(stored.text(`producer/${name}`)).toBe(name);
    const row = producerRows(stored.text("system/mrt-manifest.txt"))[0]!;
    expect(unescapeFileName(row[5]!)).toBe(`producer/${name}`);
    expect(fileURLToPath(row[0]!).endsWith(`/producer/${name}`)).toBe(true);
    expect(validateRoot(laboratory.store).errors).toEqual([]);
  });

  test("of one object keep apart, however alike they look", async () => {
    const carried = NAMES.filter((name) => !/\||^\s|[\t-\r ]$/.test(name));
    const files = Object.fromEntries(carried.map((name) => [name, `content of ${name}`]));
    const laboratory = await Laboratory.open();
    const stored = storedVersion(await laboratory.job(objectOf(files)).run());
    for (const name of carried) expect(stored.text(`producer/${name}`)).toBe(`content of ${name}`);
    const rows = producerRows(stored.text("system/mrt-manifest.txt"));
    expect(rows.map((row) => unescapeFileName(row[5]!)).sort()).toEqual(
      carried.map((name) => `producer/${name}`).sort(),
    );
    expect(validateRoot(laboratory.store)).toMatchObject({ errors: [] });
  });
});
