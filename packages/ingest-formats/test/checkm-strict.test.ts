import { describe, expect, test } from "@jest/globals";

import { parseManifest } from "../src/index.ts";

const REGISTRY = "http://uc3.cdlib.org/registry/ingest/manifest/";
const FIELDS =
  "#%fields | nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName | mrt:mimeType";
const PREFIXES =
  "#%prefix | mrt: | http://merritt.cdlib.org/terms#\n#%prefix | nfo: | http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#";

const manifest = (rows: readonly string[], profile = `${REGISTRY}mrt-ingest-manifest`, fields = FIELDS): string =>
  `#%checkm_0.7\n#%profile | ${profile}\n${PREFIXES}\n${fields}\n${rows.join("\n")}\n#%eof\n`;

const row = (name: string, rest = ""): string => `https://example.org/a |  |  |  |  | ${name}${rest}`;

async function codes(text: string, mode: "default" | "strict"): Promise<string[]> {
  const result = await parseManifest(text, { mode });
  return result.ok ? [] : result.problems.map(({ code }) => code);
}

describe("strict mode refuses what the default accepts", () => {
  const sha = "ab".repeat(32);
  const files = `${REGISTRY}mrt-single-file-batch-manifest`;
  const batchFields = FIELDS.replace(
    "mrt:mimeType",
    "mrt:primaryIdentifier | mrt:localIdentifier | mrt:creator | mrt:title | mrt:date",
  );
  test.each([
    ["a row without URL", manifest([" | | | | | a"]), "URL_MISSING"],
    ["a host without a domain", manifest(["http://store:8080/a | | | | | a"]), "URL_UNUSUAL"],
    ["a character that needs escaping", manifest(["http://example.org/a,b | | | | | a"]), "URL_UNUSUAL"],
    ["sha1", manifest(["https://example.org/a | sha1 | ab | | | a"]), "DIGEST_ALGORITHM_UNUSUAL"],
    [
      "a digest in capitals",
      manifest([`https://example.org/a | sha-256 | ${sha.toUpperCase()} | | | a`]),
      "DIGEST_VALUE_MALFORMED",
    ],
    ["a short digest", manifest(["https://example.org/a | md5 | abcdef | | | a"]), "DIGEST_VALUE_MALFORMED"],
    ["a column too many", manifest([row("a", " | text/plain | more")]), "TOO_MANY_COLUMNS"],
    ["names that differ in case alone", manifest([row("a.txt"), row("A.TXT")]), "NAME_DUPLICATE"],
    [
      "fields in another order",
      manifest([row("a")], undefined, FIELDS.replace("nfo:hashValue | nfo:fileSize", "nfo:fileSize | nfo:hashValue")),
      "FIELDS_WRONG",
    ],
    [
      "an alias of the profile",
      manifest([row("a")], "http://uc3.cdlib.org/registry/mrt/mrt-ingest-manifest"),
      "PROFILE_UNKNOWN",
    ],
    [
      "a manifest for storage",
      manifest([row("a")], "http://uc3.cdlib.org/registry/store/manifest/mrt-add-manifest"),
      "PROFILE_UNKNOWN",
    ],
    ["a checkm in a batch of files", manifest([row("a.checkm")], files, batchFields), "NAME_UNSUITABLE"],
    [
      "a picture in a batch of containers",
      manifest([row("a.jpg")], `${REGISTRY}mrt-container-batch-manifest`, batchFields),
      "NAME_UNSUITABLE",
    ],
    [
      "a picture in a batch of manifests",
      manifest([row("a.jpg")], `${REGISTRY}mrt-batch-manifest`, batchFields),
      "NAME_UNSUITABLE",
    ],
    ["a bad ARK", manifest([row("a.jpg", " | ark:13030-x")], files, batchFields), "ARK_MALFORMED"],
    ["a lost character", manifest([row("a\uFFFD.jpg")]), "REPLACEMENT_CHARACTER"],
    ["the profile behind the prefixes", manifest([row("a")]).replace("#%profile", "# note\n#%profile"), "HEADER_ORDER"],
  ])("%s", async (_name, text, code) => {
    expect(await codes(text, "default")).toEqual([]);
    expect(await codes(text, "strict")).toEqual([code]);
  });

  test.each([
    ["a proper object manifest", manifest([`https://example.org/a | sha-256 | ${sha} | 5 |  | a | text/plain`])],
    [
      "a proper batch",
      manifest([row("a.zip", " | ark:/13030/m5x | id")], `${REGISTRY}mrt-container-batch-manifest`, batchFields),
    ],
    ["no #%fields and no prefixes", manifest([row("a")]).replace(/#%(fields|prefix).*\n/g, "")],
    ["one name in two folders", manifest([row("x/a"), row("y/a")])],
  ])("but not %s", async (_name, text) => {
    expect(await codes(text, "strict")).toEqual([]);
  });
});
