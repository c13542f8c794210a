import type { Digest } from "../digest.ts";
import { printLocalIds } from "../local-ids.ts";
import { type FormatProblem, type Parsed, parsed } from "../problem.ts";
import { quote } from "../text.ts";
import { escapeFileName } from "./file-names.ts";
import { type Column, columnsOf, type ManifestKind, MANIFEST_KINDS } from "./kinds.ts";
import type { ManifestRow } from "./row.ts";

export type PrintableRow = Omit<ManifestRow, "row" | "line" | "localIds"> & { readonly localIds?: readonly string[] };

const NFO = "http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#";

const PREFIXED: Readonly<Record<Column, string>> = {
  fileUrl: "nfo:fileUrl",
  hashAlgorithm: "nfo:hashAlgorithm",
  hashValue: "nfo:hashValue",
  fileSize: "nfo:fileSize",
  fileLastModified: "nfo:fileLastModified",
  fileName: "nfo:fileName",
  mimeType: "mrt:mimeType",
  primaryIdentifier: "mrt:primaryIdentifier",
  localIdentifier: "mrt:localIdentifier",
  creator: "mrt:creator",
  title: "mrt:title",
  date: "mrt:date",
};

/** Storage's dialect of the header: other prefixes, `#%columns`, `nfo:fileURL` and `nie:mimeType`. */
const STORAGE_HEADER = [
  `#%prefix | nfo:<${NFO}>`,
  "#%prefix | nie:<http://www.semanticdesktop.org/ontologies/2007/01/19/nie/#>",
  "#%prefix | mrt:<http://uc3.cdlib.org/ontology/mrt/mom#>",
  "#%columns | nfo:fileURL | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName | nie:mimeType",
];

function headerOf(kind: ManifestKind): string[] {
  if (kind === "storage-manifest") return STORAGE_HEADER;
  const fields = columnsOf(kind).map((column) => PREFIXED[column]);
  return [
    "#%prefix | mrt: | http://merritt.cdlib.org/terms#",
    `#%prefix | nfo: | ${NFO}`,
    `#%fields | ${fields.join(" | ")}`,
  ];
}

/**
 * A manifest of any kind. Refused: values that the format cannot carry (`|`, line ends, white space at the edges), but
 * for file names of storage manifests, which are escaped.
 */
export function printManifest(kind: ManifestKind, rows: readonly PrintableRow[]): Parsed<string> {
  const problems = rows.flatMap((row, index) => unprintable(kind, row, index + 1));
  if (problems.length > 0) return { ok: false, problems };
  const lines = [
    "#%checkm_0.7",
    `#%profile | ${MANIFEST_KINDS[kind].profile}`,
    ...headerOf(kind),
    ...rows.map((row) => cellsOf(kind, row).join(" | ")),
    "#%eof",
    "",
  ];
  return parsed(lines.join("\n"));
}

export interface StorageManifestFile {
  readonly fileUrl: string;
  readonly digest: Digest;
  readonly fileSize: number;
  readonly fileLastModified?: string;
  /** With its folder: `producer/hello.txt`. */
  readonly fileName: string;
  readonly mimeType: string;
}

/** system/mrt-manifest.txt: what ingest hands to storage. */
export const printStorageManifest = (files: readonly StorageManifestFile[]): Parsed<string> =>
  printManifest("storage-manifest", files);

/** Trailing empty columns stay: every row shows all its columns. */
const cellsOf = (kind: ManifestKind, row: PrintableRow): string[] =>
  columnsOf(kind).map((column) =>
    column === "fileName" && kind === "storage-manifest" ? escapeFileName(row.fileName ?? "") : cellOf(column, row),
  );

function cellOf(column: Column, row: PrintableRow): string {
  switch (column) {
    case "hashAlgorithm":
      return row.digest?.algorithm ?? "";
    case "hashValue":
      return row.digest?.value ?? "";
    case "fileSize":
      return row.fileSize === undefined ? "" : String(row.fileSize);
    case "primaryIdentifier":
      return row.primaryId ?? "";
    case "localIdentifier":
      return printLocalIds(row.localIds ?? []);
    default:
      return row[column] ?? "";
  }
}

function unprintable(kind: ManifestKind, row: PrintableRow, number: number): FormatProblem[] {
  const cells = cellsOf(kind, row);
  return columnsOf(kind).flatMap((column, index) => {
    const cell = cells[index] ?? "";
    const first = index === 0 && cell.startsWith("#");
    if (!first && !/[|\u0000\n\r]|^[\t-\r ]|[\t-\r ]$/.test(cell)) return [];
    return [
      {
        code: "VALUE_UNPRINTABLE",
        message: `a manifest cannot carry ${quote(cell)}`,
        row: number,
        column,
        expected: "no | and no line end inside, no white space at the edges",
      },
    ];
  });
}
