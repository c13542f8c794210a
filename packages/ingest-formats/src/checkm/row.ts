import { type Digest, parseDigestAlgorithm } from "../digest.ts";
import { parseLocalIds } from "../local-ids.ts";
import type { FormatProblem } from "../problem.ts";
import { trimAscii } from "../text.ts";
import { checkSize, checkUrl } from "./checks.ts";
import type { ManifestMode } from "./header.ts";
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

/** Columns are positional; missing ones at the end are empty, surplus ones are ignored (strict: refused). */
export function readRow(line: Line, rowNumber: number, kind: ManifestKind, mode: ManifestMode): RowResult {
  const values = line.text.split("|").map(trimAscii);
  const columns = columnsOf(kind);
  const cells: Partial<Record<Column, string>> = {};
  columns.forEach((column, index) => {
    const value = values[index];
    if (value !== undefined && value !== "") cells[column] = value;
  });
  const problems = cellProblems(cells);
  if (mode === "strict") problems.push(...strictRowProblems(cells, values.length, kind));
  return {
    row: buildRow(cells, rowNumber, line.number),
    problems: problems.map((problem) => ({ ...problem, line: line.number, row: rowNumber })),
  };
}

function cellProblems(cells: Cells): CellProblem[] {
  const problems: CellProblem[] = [];
  if (cells.fileUrl !== undefined) problems.push(...checkUrl(cells.fileUrl));
  if (cells.fileSize !== undefined) problems.push(...checkSize(cells.fileSize));
  // An algorithm without a value is ignored, as in production.
  if (cells.hashAlgorithm !== undefined && cells.hashValue !== undefined) {
    const algorithm = parseDigestAlgorithm(cells.hashAlgorithm);
    if (!algorithm.ok) problems.push(...algorithm.problems.map((problem) => ({ ...problem, column: "hashAlgorithm" })));
  }
  return problems;
}

function buildRow(cells: Cells, row: number, line: number): ManifestRow {
  const { fileUrl, fileLastModified, fileName, mimeType, primaryIdentifier, creator, title, date } = cells;
  const digest = digestOf(cells);
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

/** The value's length is not checked in default mode: a wrong one fails the comparison after the download. */
function digestOf(cells: Cells): Digest | undefined {
  if (cells.hashAlgorithm === undefined || cells.hashValue === undefined) return undefined;
  const algorithm = parseDigestAlgorithm(cells.hashAlgorithm);
  return algorithm.ok ? { algorithm: algorithm.value, value: cells.hashValue.toLowerCase() } : undefined;
}
