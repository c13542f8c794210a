import { quote } from "../text.ts";
import { columnsOf, type ManifestKind } from "./kinds.ts";
import type { CellProblem, Cells } from "./row.ts";

/** What Merritt's public validator refuses beyond the production parser. */
export function strictRowProblems(cells: Cells, columnCount: number, kind: ManifestKind): CellProblem[] {
  return [
    ...strictColumns(columnCount, kind),
    ...strictUrl(cells.fileUrl),
    ...strictDigest(cells),
    ...strictName(cells.fileName, kind),
    ...strictArk(cells.primaryIdentifier),
    ...Object.entries(cells).flatMap(([column, value]) => replacementCharacter(column, value)),
  ];
}

function strictColumns(count: number, kind: ManifestKind): CellProblem[] {
  const most = columnsOf(kind).length;
  if (count <= most) return [];
  return [{ code: "TOO_MANY_COLUMNS", message: `the row has ${count} columns`, expected: `at most ${most} columns` }];
}

/** A host with a dot and a top-level domain of letters, and no character that would need escaping. */
function strictUrl(url: string | undefined): CellProblem[] {
  if (url === undefined) {
    return [
      { code: "URL_MISSING", message: "the URL is missing", column: "fileUrl", expected: "an http or https URL" },
    ];
  }
  if (!URL.canParse(url)) return [];
  const plain = /^[-a-zA-Z0-9@:%_+.~#?&/=]*$/.test(url);
  if (plain && /\.[a-z]{2,6}$/.test(new URL(url).hostname)) return [];
  return [
    {
      code: "URL_UNUSUAL",
      message: "the URL has an unusual host or characters that need escaping",
      column: "fileUrl",
      expected: "a public host name, and an escaped path",
    },
  ];
}

const STRICT_LENGTH: ReadonlyMap<string, number> = new Map([
  ["md5", 32],
  ["sha-256", 64],
  ["sha256", 64],
]);

function strictDigest(cells: Cells): CellProblem[] {
  if (cells.hashAlgorithm === undefined) return [];
  const length = STRICT_LENGTH.get(cells.hashAlgorithm.toLowerCase());
  if (length === undefined) {
    return [
      {
        code: "DIGEST_ALGORITHM_UNUSUAL",
        message: `${quote(cells.hashAlgorithm)} is not recommended`,
        column: "hashAlgorithm",
        expected: "md5 or sha-256",
      },
    ];
  }
  const value = cells.hashValue;
  if (value === undefined || (value.length === length && /^[0-9a-f]+$/.test(value))) return [];
  return [
    {
      code: "DIGEST_VALUE_MALFORMED",
      message: `${quote(value)} is no ${cells.hashAlgorithm} value`,
      column: "hashValue",
      expected: `${length} hexadecimal digits in lower case`,
    },
  ];
}

const CONTAINER = /\.(?:tar|zip|tar\.gz|bz2)$/i;
const CHECKM = /\.checkm$/i;

function strictName(name: string | undefined, kind: ManifestKind): CellProblem[] {
  if (name === undefined) return [];
  const wrong = (expected: string): CellProblem[] => [
    { code: "NAME_UNSUITABLE", message: `${quote(name)} does not fit the manifest`, column: "fileName", expected },
  ];
  if (kind === "container-batch-manifest" && !CONTAINER.test(name)) return wrong("*.tar, *.zip, *.tar.gz or *.bz2");
  if (kind === "batch-manifest" && !CHECKM.test(name)) return wrong("*.checkm");
  if (kind === "single-file-batch-manifest" && CHECKM.test(name))
    return wrong("no *.checkm: it would be kept as a file");
  return [];
}

function strictArk(ark: string | undefined): CellProblem[] {
  if (ark === undefined || /^ark:\/\d+\/[a-z][a-z0-9]+$/.test(ark)) return [];
  return [
    {
      code: "ARK_MALFORMED",
      message: `${quote(ark)} is no ARK`,
      column: "primaryIdentifier",
      expected: "ark:/digits/letters and digits",
    },
  ];
}

/** It stands where an earlier conversion lost a character. */
function replacementCharacter(column: string, value: string): CellProblem[] {
  if (!value.includes("\uFFFD")) return [];
  return [{ code: "REPLACEMENT_CHARACTER", message: "a character was lost in an earlier conversion", column }];
}
