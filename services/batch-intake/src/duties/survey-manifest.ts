import {
  describeProblem,
  type FormatProblem,
  type ManifestKind,
  type ManifestMode,
  type ManifestRow,
  type ManifestSource,
  readManifest,
} from "@sluice/ingest-formats";
import { parseName } from "@sluice/safe-io";

/** What a manifest is held to. */
export interface ManifestRules {
  readonly mode: ManifestMode;
  readonly maxBytes: number;
  /** Where a batch manifest came from: a row that names it again would expand without end. */
  readonly ownUrl?: string;
  readonly isBeside?: (url: string) => boolean;
}

export type ManifestSurvey =
  | { readonly ok: true; readonly rows: number }
  /** For the depositor: which rows are wrong, and how. */
  | { readonly ok: false; readonly message: string };

/** A status message is no place for thousands of lines: the first ones show what kind of mistake it is. */
const PROBLEMS_SHOWN = 10;
const PROBLEMS_COUNTED = 1_000;
/** In characters: what a row says goes into nodes of one job, and those are small. */
const ROW_MAX = 10_000;

/** Reads a manifest from beginning to end and keeps no row: nothing is started before all of it is known to be good. */
export async function surveyManifest(
  source: ManifestSource,
  kind: ManifestKind,
  { mode, maxBytes, ownUrl, isBeside = () => false }: ManifestRules,
): Promise<ManifestSurvey> {
  const shown: string[] = [];
  let wrong = 0;
  let rows = 0;
  for await (const event of readManifest(source, { kind, mode, maxBytes, maxLineLength: ROW_MAX, isBeside })) {
    const problem =
      event.type === "problem" ? event.problem : event.type === "row" ? rowProblem(event.row, kind, ownUrl) : null;
    if (event.type === "row") rows += 1;
    if (problem === null) continue;
    wrong += 1;
    if (shown.length < PROBLEMS_SHOWN) shown.push(describeProblem(problem));
    if (wrong >= PROBLEMS_COUNTED) break;
  }
  if (wrong === 0) return { ok: true, rows };
  return { ok: false, message: shown.join("; ") + more(wrong - shown.length, wrong >= PROBLEMS_COUNTED) };
}

const more = (rest: number, atLeast: boolean): string =>
  rest === 0 ? "" : `; and ${atLeast ? "at least " : ""}${rest} more`;

/** Merritt takes such rows and lets them fail one by one; here the depositor is told before anything is made. */
function rowProblem(row: ManifestRow, kind: ManifestKind, ownUrl: string | undefined): FormatProblem | null {
  const place = { line: row.line, row: row.row };
  if (row.fileUrl !== undefined && row.fileUrl === ownUrl)
    return {
      code: "SELF_REFERENCE",
      message: "the URL is that of this very manifest",
      column: "fileUrl",
      expected: "the URL of an object",
      ...place,
    };
  if (row.fileUrl === undefined)
    return {
      code: "URL_MISSING",
      message: "there is no URL",
      column: "fileUrl",
      expected: "an http or https URL",
      ...place,
    };
  return kind === "object-manifest" ? nameProblem(row.fileName, place) : null;
}

/** Files of an object are stored under these names, or not at all: said with the row, before the first is fetched. */
function nameProblem(
  name: string | undefined,
  place: { readonly line: number; readonly row: number },
): FormatProblem | null {
  if (name === undefined)
    return { code: "NAME_MISSING", message: "there is no file name", column: "fileName", expected: "a name", ...place };
  const parsed = parseName(name);
  if (parsed.ok) return null;
  const { message } = parsed.error;
  return { code: "NAME_REFUSED", message, column: "fileName", expected: "a relative path inside the object", ...place };
}
