/** Checkm manifests of Merritt, row by row. */
const PROFILES = "http://uc3.cdlib.org/registry/ingest/manifest";
const FIELDS = "nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName";

const manifest = (profile: string, more: string, rows: readonly string[]): string =>
  ["#%checkm_0.7", `#%profile | ${PROFILES}/${profile}`, `#%fields | ${FIELDS} | ${more}`, ...rows, "#%eof", ""].join(
    "\n",
  );

export interface ManifestFile {
  readonly url: string;
  readonly name: string;
  readonly digest?: readonly [algorithm: string, value: string];
  readonly localId?: string;
  readonly primaryId?: string;
}

const cells = ({ url, name, digest = ["", ""] }: ManifestFile): readonly string[] => [url, ...digest, "", "", name];

export const objectManifest = (files: readonly ManifestFile[]): string =>
  manifest(
    "mrt-ingest-manifest",
    "mrt:mimeType",
    files.map((file) => [...cells(file), ""].join(" | ")),
  );

export const batchManifest = (files: readonly ManifestFile[]): string =>
  manifest(
    "mrt-single-file-batch-manifest",
    "mrt:primaryIdentifier | mrt:localIdentifier | mrt:creator | mrt:title | mrt:date",
    files.map((file) => [...cells(file), file.primaryId ?? "", file.localId ?? "", "", "", ""].join(" | ")),
  );
