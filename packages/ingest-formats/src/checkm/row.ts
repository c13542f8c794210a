import { type Digest, type DigestAlgorithm, parseDigestAlgorithm } from "../digest.ts";
import { parseLocalIds } from "../local-ids.ts";
import type { FormatProblem, Parsed } from "../problem.ts";
import { trimAscii } from "../text.ts";
import { checkSize, checkUrl } from "./checks.ts";
import type { ManifestMode } from "./header.ts";
import { unescapeFileName } from "./file-names.ts";
import { type Column, columnsOf, type ManifestKind } from "./kinds.ts";
import type { Line } from "./lines.ts";
import { strictRowProblems } from "./strict.ts";

/**
 * One row, whatever the kind: columns that the kind lacks, and empty ones, are absent. URL and name may be absent in
 * default mode, because production accepts that too: such a row can only become a job that fails.
 */
export interface ManifestRow {
  /** From 1, headers, comments and blank lines not counted. */
  readonly row: number;
  readonly line: number;
  readonly fileUrl?: string;
  readonly digest?: Digest;
  readonly fileSize?: number;
  readonly fileLastModified?: string;
  readonly fileName?: string;
  readonly mimeType?: string;
  readonly primaryId?: string;
  readonly localIds: readonly string[];
  readonly creator?: string;
  readonly title?: string;
  readonly date?: string;
}

export type Cells = Readonly<Partial<Record<Column, string>>>;

/** A problem without its place; the place is added once, here. */
export type CellProblem = Omit<FormatProblem, "line" | "row">;

export interface RowResult {
  readonly row: ManifestRow;
  readonly problems: readonly FormatProblem[];
}

export interface RowRules {
  readonly kind: ManifestKind;
  readonly mode: ManifestMode;
  /** Addresses that are taken though nobody fetches them. */
  readonly isBeside: (url: string) => boolean;
}

/** Columns are positional; missing ones at the end are empty, surplus ones are ignored (strict: refused). */
export function readRow(line: Line, rowNumber: number, { kind, mode, isBeside }: RowRules): RowResult {
  const values = line.text.split("|").map(trimAscii);
  const columns = columnsOf(kind);
  const cells: Partial<Record<Column, string>> = {};
  columns.forEach((column, index) => {
    const value = values[index];
    if (value !== undefined && value !== "") cells[column] = value;
  });
  if (kind === "storage-manifest" && cells.fileName !== undefined) cells.fileName = unescapeFileName(cells.fileName);
  const algorithm = algorithmOf(cells);
  const problems = cellProblems(cells, algorithm, isBeside);
  if (mode === "strict") for (const each of strictRowProblems(cells, values.length, kind)) problems.push(each);
  return {
    row: buildRow(cells, digestOf(cells, algorithm), rowNumber, line.number),
    problems: problems.map((problem) => ({ ...problem, line: line.number, row: rowNumber })),
  };
}

/** An algorithm without a value is ignored, as in production. */
const algorithmOf = ({ hashAlgorithm, hashValue }: Cells): Parsed<DigestAlgorithm> | undefined =>
  hashAlgorithm === undefined || hashValue === undefined ? undefined : parseDigestAlgorithm(hashAlgorithm);

function cellProblems(
  cells: Cells,
  algorithm: Parsed<DigestAlgorithm> | undefined,
  isBeside: RowRules["isBeside"],
): CellProblem[] {
  const problems: CellProblem[] = [];
  if (cells.fileUrl !== undefined && !isBeside(cells.fileUrl))
    for (const each of checkUrl(cells.fileUrl)) problems.push(each);
  if (cells.fileSize !== undefined) for (const each of checkSize(cells.fileSize)) problems.push(each);
  if (algorithm?.ok === false) {
    for (const problem of algorithm.problems) problems.push({ ...problem, column: "hashAlgorithm" });
  }
  return problems;
}

/** The value's length is not checked in default mode: a wrong one fails the comparison after the download. */
const digestOf = (cells: Cells, algorithm: Parsed<DigestAlgorithm> | undefined): Digest | undefined =>
  algorithm?.ok === true ? { algorithm: algorithm.value, value: (cells.hashValue ?? "").toLowerCase() } : undefined;

function buildRow(cells: Cells, digest: Digest | undefined, row: number, line: number): ManifestRow {
  const { fileUrl, fileLastModified, fileName, mimeType, primaryIdentifier, creator, title, date } = cells;
  return {
    row,
    line,
    ...(fileUrl === undefined ? {} : { fileUrl }),
    ...(digest === undefined ? {} : { digest }),
    ...(cells.fileSize === undefined ? {} : { fileSize: Number(cells.fileSize) }),
    ...(fileLastModified === undefined ? {} : { fileLastModified }),
    ...(fileName === undefined ? {} : { fileName }),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(primaryIdentifier === undefined ? {} : { primaryId: primaryIdentifier }),
    localIds: parseLocalIds(cells.localIdentifier ?? ""),
    ...(creator === undefined ? {} : { creator }),
    ...(title === undefined ? {} : { title }),
    ...(date === undefined ? {} : { date }),
  };
}
