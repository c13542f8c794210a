import type { FormatProblem } from "../problem.ts";
import { quote, trimAscii } from "../text.ts";
import { type Column, columnsOf, kindOfProfile, type ManifestKind, MANIFEST_KINDS, profileUri } from "./kinds.ts";
import type { Line } from "./lines.ts";

/** `default`: what Merritt's production parser accepts. `strict`: the rules of Merritt's public manifest validator. */
export type ManifestMode = "default" | "strict";

export type Header =
  | { readonly ok: true; readonly kind: ManifestKind; readonly problems: readonly FormatProblem[] }
  | { readonly ok: false; readonly problem: FormatProblem };

/**
 * Judges the `#` lines before the first row. Production enforces the profile alone, and not even that when there is no
 * header at all and the submission says what the manifest is.
 */
export function readHeader(lines: readonly Line[], mode: ManifestMode, expected: ManifestKind | undefined): Header {
  const line = lines.find(({ text }) => profileUri(text) !== undefined);
  const uri = line === undefined ? undefined : profileUri(line.text);
  if (line === undefined || uri === undefined) {
    if (lines.length === 0 && mode === "default" && expected !== undefined) {
      return { ok: true, kind: expected, problems: [] };
    }
    return { ok: false, problem: profileMissing(expected) };
  }
  const found = kindOfProfile(uri);
  if (found === undefined) return { ok: false, problem: profileUnknown(line, uri) };
  if (expected !== undefined && found.kind !== expected) {
    return { ok: false, problem: profileMismatch(line, found.kind, expected) };
  }
  const problems = mode === "strict" ? strictProblems(lines, line, found) : [];
  return { ok: true, kind: found.kind, problems };
}

const profileMissing = (expected: ManifestKind | undefined): FormatProblem => ({
  code: "PROFILE_MISSING",
  message: "there is no #%profile line before the first row",
  column: "#%profile",
  expected: `#%profile | ${MANIFEST_KINDS[expected ?? "object-manifest"].profile}`,
});

const profileUnknown = (line: Line, uri: string): FormatProblem => ({
  code: "PROFILE_UNKNOWN",
  message: `unknown manifest profile ${quote(uri)}`,
  line: line.number,
  column: "#%profile",
  expected: Object.values(MANIFEST_KINDS)
    .map(({ profile }) => profile)
    .join(", "),
});

const profileMismatch = (line: Line, found: ManifestKind, expected: ManifestKind): FormatProblem => ({
  code: "PROFILE_MISMATCH",
  message: `the manifest is of kind ${found}, submitted as ${expected}`,
  line: line.number,
  column: "#%profile",
  expected: MANIFEST_KINDS[expected].profile,
});

function strictProblems(
  lines: readonly Line[],
  profile: Line,
  found: { readonly kind: ManifestKind; readonly canonical: boolean },
): FormatProblem[] {
  const { kind } = found;
  const problems: FormatProblem[] = [];
  const forDeposit = kind !== "storage-manifest" && kind !== "object-check-manifest";
  if (!found.canonical || !forDeposit) problems.push({ ...profileUnknown(profile, trimAscii(profile.text)) });
  const before = lines.slice(0, lines.indexOf(profile));
  if (before.some(({ text }, index) => index > 0 || text !== "#%checkm_0.7")) {
    problems.push({
      code: "HEADER_ORDER",
      message: "only #%checkm_0.7 may stand before #%profile",
      line: profile.number,
      column: "#%profile",
    });
  }
  const fields = lines.find(({ text }) => /^#%fields\s*\|/i.test(text));
  if (fields !== undefined && !namesColumns(fields.text, columnsOf(kind))) problems.push(wrongFields(fields, kind));
  return problems;
}

/** The prefix (`nfo:`, `mrt:`) and the case do not matter, the order does. */
function namesColumns(line: string, columns: readonly Column[]): boolean {
  const names = line
    .split("|")
    .slice(1)
    .map((name) => trimAscii(name).toLowerCase().replace(/^\w+:/, ""));
  return names.length === columns.length && columns.every((column, index) => column.toLowerCase() === names[index]);
}

const wrongFields = (line: Line, kind: ManifestKind): FormatProblem => ({
  code: "FIELDS_WRONG",
  message: "#%fields does not name the columns of this kind of manifest in their order",
  line: line.number,
  column: "#%fields",
  expected: columnsOf(kind).join(" | "),
});
