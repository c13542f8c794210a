/** What the system files of a version say. */
import {
  describeProblem,
  type FormatProblem,
  parseErc,
  parseIngestFile,
  parseMembership,
  parseMom,
  parseOwner,
  unescapeFileName,
} from "@sluice/ingest-formats";
import type { StoredVersion } from "@sluice/inventory";

export type SystemFacts = Pick<StoredVersion, "owner" | "collections" | "mom" | "erc" | "ingest">;

export const INGEST_FILE = "system/mrt-ingest.txt";

export const SYSTEM_FILES = [
  "system/mrt-owner.txt",
  "system/mrt-membership.txt",
  "system/mrt-mom.txt",
  "system/mrt-erc.txt",
  INGEST_FILE,
] as const;
export type SystemTexts = Readonly<Record<(typeof SYSTEM_FILES)[number], string>>;

/** Of all of them. */
export const asTexts = (contents: ReadonlyMap<string, Buffer>): SystemTexts =>
  Object.fromEntries([...contents].map(([path, bytes]) => [path, bytes.toString("utf8")])) as SystemTexts;

export function parseSystemFiles(
  texts: SystemTexts,
): { readonly ok: true; readonly facts: SystemFacts } | { readonly ok: false; readonly problem: string } {
  const mom = parseMom(texts["system/mrt-mom.txt"]);
  if (!mom.ok) return wrong("mrt-mom.txt", mom.problems);
  const erc = parseErc(texts["system/mrt-erc.txt"]);
  if (!erc.ok) return wrong("mrt-erc.txt", erc.problems);
  const ingest = parseIngestFile(texts[INGEST_FILE]);
  if (!ingest.ok) return wrong("mrt-ingest.txt", ingest.problems);
  const owner = parseOwner(texts["system/mrt-owner.txt"]);
  const collections = parseMembership(texts["system/mrt-membership.txt"]);
  return { ok: true, facts: { owner, collections, mom: mom.value, erc: erc.value, ingest: ingest.value } };
}

const wrong = (file: string, problems: readonly FormatProblem[]) =>
  ({ ok: false, problem: `${file}: ${problems.map(describeProblem).join("; ")}` }) as const;

const UNKNOWN_TYPE = "application/octet-stream";

/** The types that the storage manifest gives, by path; what a cell cannot carry is escaped in names. */
export function mimeTypes(storageManifest: string): (path: string) => string {
  const rows = storageManifest
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .map((line) => line.split("|").map((cell) => cell.trim()));
  const byPath = new Map(rows.map((cells) => [unescapeFileName(cells[5] ?? ""), cells[6] ?? ""]));
  return (path) => byPath.get(path) ?? (path.endsWith(".txt") ? "text/plain" : UNKNOWN_TYPE);
}
