/** Files of the producer's that mean something to the inventory: who may use the object, and what describes it. */
import { describeProblem, parseEmbargo } from "@sluice/ingest-formats";
import type { MetadataSchema, StoredFile, StoredMetadata, StoredVersion } from "@sluice/inventory";
import { parseDataUse } from "./data-use.ts";

export type ProducerFacts = Pick<StoredVersion, "embargoEndDate" | "dataUse" | "metadata">;

const EMBARGO = "producer/mrt-embargo.txt";
const DATA_USE = "producer/mrt-dua.txt";
const DATA_USE_TEMPLATE = "producer/mrt-dua-template.xml";
const ACCESS_FILES: readonly string[] = [EMBARGO, DATA_USE, DATA_USE_TEMPLATE];

interface MetadataKind {
  readonly schema: MetadataSchema;
  readonly schemaVersion: string | null;
  readonly keepsXmlDeclaration: boolean;
}

/** Names, versions and what is kept are Merritt's: its readers of inv_metadatas go by them. */
const METADATA_FILES: ReadonlyMap<string, MetadataKind> = new Map([
  ["producer/mrt-dc.xml", { schema: "DublinCore", schemaVersion: null, keepsXmlDeclaration: true }],
  ["producer/mrt-eml.xml", { schema: "EML", schemaVersion: null, keepsXmlDeclaration: true }],
  ["producer/mrt-datacite.xml", { schema: "DataCite", schemaVersion: "3.1", keepsXmlDeclaration: false }],
  ["producer/mrt-oaidc.xml", { schema: "OAI_DublinCore", schemaVersion: "2.0", keepsXmlDeclaration: false }],
  ["producer/stash-wrapper.xml", { schema: "StashWrapper", schemaVersion: "1.0", keepsXmlDeclaration: false }],
]);

/** A row, and the statement that brings it, must stay small. */
const MAX_BYTES = 1024 * 1024;

/** Which of a version's files are to be read. */
export const producerFilesToRead = (files: readonly StoredFile[]): readonly string[] =>
  files
    .filter(({ path, bytes }) => (ACCESS_FILES.includes(path) || METADATA_FILES.has(path)) && bytes <= MAX_BYTES)
    .map(({ path }) => path);

export type ParsedProducerFiles =
  { readonly ok: true; readonly facts: ProducerFacts } | { readonly ok: false; readonly problem: string };

/** What cannot be read of a description stays in the store; what cannot be read about access is a problem. */
export function parseProducerFiles(
  files: readonly StoredFile[],
  contents: ReadonlyMap<string, Uint8Array>,
): ParsedProducerFiles {
  const unread = files.find(({ path }) => ACCESS_FILES.includes(path) && textOf(contents.get(path)) === null);
  if (unread !== undefined) return wrong(unread.path, `it is no UTF-8, or longer than ${MAX_BYTES} bytes`);
  const embargo = parsedIfThere(contents, EMBARGO, parseEmbargo);
  if (embargo?.ok === false) return wrong(EMBARGO, embargo.problems.map(describeProblem).join("; "));
  const template = textOf(contents.get(DATA_USE_TEMPLATE));
  const dataUse = parsedIfThere(contents, DATA_USE, (text) => parseDataUse(text, template));
  if (dataUse?.ok === false) return wrong(DATA_USE, dataUse.problem);
  const facts = {
    embargoEndDate: embargo?.value.endDate ?? null,
    dataUse: dataUse?.dataUse ?? null,
    metadata: files.flatMap(({ path }) => metadataIn(path, contents)),
  };
  return { ok: true, facts };
}

const wrong = (path: string, problem: string) => ({ ok: false, problem: `${path}: ${problem}` }) as const;

function parsedIfThere<T>(contents: ReadonlyMap<string, Uint8Array>, path: string, parse: (text: string) => T) {
  const text = textOf(contents.get(path));
  return text === null ? null : parse(text);
}

function metadataIn(path: string, contents: ReadonlyMap<string, Uint8Array>): StoredMetadata[] {
  const kind = METADATA_FILES.get(path);
  if (kind === undefined) return [];
  const { schema, schemaVersion, keepsXmlDeclaration } = kind;
  const text = textOf(contents.get(path));
  const value = keepsXmlDeclaration ? text : (text?.replace(/^\s*<\?xml\s[^>]*\?>\s*/, "") ?? null);
  return [{ path, schema, schemaVersion, value }];
}

function textOf(bytes: Uint8Array | undefined): string | null {
  try {
    return bytes === undefined ? null : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
