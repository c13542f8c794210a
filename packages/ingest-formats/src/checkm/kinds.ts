import { splitLines, trimAscii } from "../text.ts";

export type Column =
  | "fileUrl"
  | "hashAlgorithm"
  | "hashValue"
  | "fileSize"
  | "fileLastModified"
  | "fileName"
  | "mimeType"
  | "primaryIdentifier"
  | "localIdentifier"
  | "creator"
  | "title"
  | "date";

const FILE_COLUMNS = [
  "fileUrl",
  "hashAlgorithm",
  "hashValue",
  "fileSize",
  "fileLastModified",
  "fileName",
] as const satisfies readonly Column[];

const OBJECT_COLUMNS: readonly Column[] = [...FILE_COLUMNS, "mimeType"];

const BATCH_COLUMNS: readonly Column[] = [
  ...FILE_COLUMNS,
  "primaryIdentifier",
  "localIdentifier",
  "creator",
  "title",
  "date",
];

interface KindFacts {
  readonly profile: string;
  readonly columns: readonly Column[];
}

const INGEST = "http://uc3.cdlib.org/registry/ingest/manifest/";
const STORE = "http://uc3.cdlib.org/registry/store/manifest/";
const LEGACY = "http://uc3.cdlib.org/registry/mrt/";

/** Every kind of manifest, its profile and its columns. Columns are positional: headers do not rename them. */
export const MANIFEST_KINDS = {
  "object-manifest": { profile: `${INGEST}mrt-ingest-manifest`, columns: OBJECT_COLUMNS },
  "batch-manifest": { profile: `${INGEST}mrt-batch-manifest`, columns: BATCH_COLUMNS },
  "container-batch-manifest": { profile: `${INGEST}mrt-container-batch-manifest`, columns: BATCH_COLUMNS },
  "single-file-batch-manifest": { profile: `${INGEST}mrt-single-file-batch-manifest`, columns: BATCH_COLUMNS },
  "storage-manifest": { profile: `${STORE}mrt-add-manifest`, columns: OBJECT_COLUMNS },
  "object-check-manifest": {
    profile: `${STORE}mrt-object-manifest`,
    columns: ["fileName", "hashAlgorithm", "hashValue", "fileSize", "fileLastModified", "mimeType"],
  },
} as const satisfies Record<string, KindFacts>;

export type ManifestKind = keyof typeof MANIFEST_KINDS;

export const columnsOf = (kind: ManifestKind): readonly Column[] => MANIFEST_KINDS[kind].columns;

const kinds = Object.keys(MANIFEST_KINDS) as ManifestKind[];

const nameOf = (uri: string): string => uri.slice(uri.lastIndexOf("/") + 1);

/** `canonical: false` for the aliases under `registry/mrt/`, which are still accepted. */
export function kindOfProfile(uri: string): { readonly kind: ManifestKind; readonly canonical: boolean } | undefined {
  for (const kind of kinds) {
    const { profile } = MANIFEST_KINDS[kind];
    if (uri === profile) return { kind, canonical: true };
    if (uri === LEGACY + nameOf(profile)) return { kind, canonical: false };
  }
  return undefined;
}

/** `#%profile | URI` → `URI`. */
export function profileUri(line: string): string | undefined {
  if (!/^#%profile\s*\|/i.test(line)) return undefined;
  return trimAscii(line.slice(line.indexOf("|") + 1));
}

/** The kind named in the first lines of a text, if it is a manifest at all. */
export function kindOfHead(head: string): ManifestKind | undefined {
  for (const line of splitLines(head)) {
    if (line !== "" && !line.startsWith("#")) return undefined;
    const uri = profileUri(line);
    if (uri !== undefined) return kindOfProfile(uri)?.kind;
  }
  return undefined;
}
