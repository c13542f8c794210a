import { type AnvlElement, parseAnvl, printAnvl, UNASSIGNED } from "./anvl.ts";
import { type Parsed, parsed } from "./problem.ts";

/** The lines of mrt-ingest.txt in Merritt's order. */
const ALWAYS = [
  "ingest",
  "submissionDate",
  "batch",
  "job",
  "userAgent",
  "file",
  "type",
  "profile",
  "collection",
  "storageService",
  "storageNode",
  "notification",
  "suppliedIdentifier",
  "digestType",
  "digestValue",
  "creator",
  "title",
  "date",
  "localIdentifier",
  "note",
] as const;

/** Written only by the checks that ran for this type of payload. */
const CHECKS = ["packageIntegrity", "containerValidity", "manifestValidity", "manifestIntegrity"] as const;

const LAST = ["assignedIdentifier", "retrievedIdentifier", "handlers"] as const;

export const INGEST_FILE_KEYS = [...ALWAYS, ...CHECKS, ...LAST] as const;

export type IngestFileKey = (typeof INGEST_FILE_KEYS)[number];

export type IngestFile = Readonly<Partial<Record<IngestFileKey, string>>>;

const isCheck = (key: IngestFileKey): boolean => (CHECKS as readonly string[]).includes(key);

/** What is missing is written as `(:unas)`, checks that did not run not at all. */
export function printIngestFile(values: IngestFile): string {
  const elements = INGEST_FILE_KEYS.flatMap((key): AnvlElement[] => {
    const value = values[key];
    if (value === undefined && isCheck(key)) return [];
    return [{ label: key, value: value === undefined || value.trim() === "" ? UNASSIGNED : value }];
  });
  return printAnvl(elements);
}

export function parseIngestFile(text: string): Parsed<IngestFile> {
  const anvl = parseAnvl(text);
  if (!anvl.ok) return anvl;
  const known = new Set<string>(INGEST_FILE_KEYS);
  const entries = anvl.value
    .filter(({ label, value }) => known.has(label) && value !== UNASSIGNED)
    .map(({ label, value }) => [label, value] as const);
  return parsed(Object.fromEntries(entries));
}
