import type { FormatProblem, ParseFailure } from "../problem.ts";
import type { ManifestKind } from "./kinds.ts";
import type { ManifestSource } from "./lines.ts";
import { type ManifestOptions, readManifest, readManifestChunks } from "./reader.ts";
import type { ManifestRow } from "./row.ts";

export interface Manifest {
  readonly ok: true;
  readonly kind: ManifestKind;
  readonly rows: readonly ManifestRow[];
}

export interface ManifestSummary {
  readonly ok: true;
  readonly kind: ManifestKind;
  readonly rowCount: number;
  /** Sum of the sizes that are given. */
  readonly knownBytes: number;
  readonly rowsWithoutSize: number;
}

export interface ManifestFailure extends ParseFailure {
  /** There are more problems than were collected. */
  readonly truncated: boolean;
}

export interface ValidationOptions extends ManifestOptions {
  /** Reading stops after so many problems; 100 if not given. */
  readonly problemLimit?: number;
}

/** A whole manifest in memory: for object manifests and short batches. */
export async function parseManifest(
  source: ManifestSource,
  options: ValidationOptions = {},
): Promise<Manifest | ManifestFailure> {
  const rows: ManifestRow[] = [];
  const summary = await survey(source, options, (row) => rows.push(row));
  return summary.ok ? { ok: true, kind: summary.kind, rows } : summary;
}

/** Reads to the end and keeps no row: for manifests of any length, before the first row is acted upon. */
export function validateManifest(
  source: ManifestSource,
  options: ValidationOptions = {},
): Promise<ManifestSummary | ManifestFailure> {
  return survey(source, options, () => undefined);
}

async function survey(
  source: ManifestSource,
  options: ValidationOptions,
  onRow: (row: ManifestRow) => void,
): Promise<ManifestSummary | ManifestFailure> {
  const limit = options.problemLimit ?? 100;
  const problems: FormatProblem[] = [];
  const total = { rowCount: 0, knownBytes: 0, rowsWithoutSize: 0 };
  let kind: ManifestKind | undefined;
  for await (const events of readManifestChunks(source, options)) {
    for (const event of events) {
      if (event.type === "kind") kind = event.kind;
      else if (event.type === "problem") problems.push(event.problem);
      else {
        count(total, event.row);
        onRow(event.row);
      }
    }
    if (problems.length > limit) return { ok: false, problems: problems.slice(0, limit), truncated: true };
  }
  if (kind === undefined || problems.length > 0) return { ok: false, problems, truncated: false };
  return { ok: true, kind, ...total };
}

function count(total: { rowCount: number; knownBytes: number; rowsWithoutSize: number }, row: ManifestRow): void {
  total.rowCount += 1;
  total.knownBytes += row.fileSize ?? 0;
  if (row.fileSize === undefined) total.rowsWithoutSize += 1;
}

/** Rows of a manifest that was validated before, from `fromRow` (counted from 1) on: how an expansion goes on. */
export async function* manifestRows(
  source: ManifestSource,
  options: ManifestOptions & { readonly fromRow?: number } = {},
): AsyncGenerator<ManifestRow> {
  const from = options.fromRow ?? 1;
  for await (const event of readManifest(source, options)) {
    if (event.type === "row" && event.row.row >= from) yield event.row;
  }
}
