import {
  describeProblem,
  type Digest,
  isBatchType,
  type ManifestRow,
  parseDigest,
  parsePayloadType,
  readManifest,
} from "@sluice/ingest-formats";
import { IoError, type UnpackedFile } from "@sluice/safe-io";
import { readContents } from "./contents.ts";
import { uploadName } from "./uploads.ts";
import { type ClaimFolder, MANIFEST_FILE } from "./working-folder.ts";

/** One file of a job. */
export interface PayloadFile {
  /** Its name below `producer/`, as the depositor gives it: not yet known to be harmless. */
  readonly name: string;
  readonly source: FileSource;
  readonly size: number | undefined;
  readonly digest: Digest | undefined;
}

/** One file that a job is to fetch: a container counts as one. */
export interface FileToFetch extends PayloadFile {
  readonly source: FileOrigin;
}

export type FileOrigin =
  { readonly kind: "url"; readonly url: string } | { readonly kind: "upload"; readonly name: string };

export type FileSource = FileOrigin | { readonly kind: "container" };

/** Why a payload cannot be told apart into files. The codes are the queue's. */
export interface PayloadProblem {
  readonly code: "UNSUPPORTED_TYPE" | "DIGEST_UNSUPPORTED" | "MANIFEST_CORRUPT" | "FILES_MISSING" | "NAME_REFUSED";
  readonly message: string;
}

export type PayloadItem<File extends PayloadFile = PayloadFile> =
  { readonly ok: true; readonly file: File } | { readonly ok: false; readonly problem: PayloadProblem };

/** What is to be fetched for a job. */
export type FetchItem = PayloadItem<FileToFetch>;

/** What of a job's configuration says what its payload is. */
export interface PayloadConfiguration {
  readonly payload_url: string;
  readonly payload_type: string;
  readonly payload_name?: string | undefined;
  readonly payload_size?: number | undefined;
  readonly digest_type?: string | undefined;
  readonly digest_value?: string | undefined;
}

/**
 * What is to be fetched for a job, one file after the other: a manifest may name hundreds of thousands. The first problem
 * is the last item. `kept` is the claim whose files count, where an object manifest is; null if nothing was kept. Rejects
 * with an IoError when the disk fails.
 */
export async function* filesToFetch(
  configuration: PayloadConfiguration,
  kept: ClaimFolder | null,
): AsyncGenerator<FetchItem> {
  const type = parsePayloadType(configuration.payload_type);
  if (type.ok && (type.value === "file" || type.value === "container")) yield singleFile(configuration);
  else if (type.ok && type.value === "object-manifest") yield* manifestFiles(kept);
  else yield unsupported(configuration.payload_type, type.ok && isBatchType(type.value));
}

/** What a job consists of once it was fetched: the same, but for a container what was in it. */
export async function* payloadFiles(
  configuration: PayloadConfiguration,
  kept: ClaimFolder | null,
): AsyncGenerator<PayloadItem> {
  if (isContainer(configuration)) yield* containerFiles(kept);
  else yield* filesToFetch(configuration, kept);
}

export function isContainer({ payload_type: text }: Pick<PayloadConfiguration, "payload_type">): boolean {
  const type = parsePayloadType(text);
  return type.ok && type.value === "container";
}

async function* containerFiles(kept: ClaimFolder | null): AsyncGenerator<PayloadItem> {
  for await (const file of readContents(kept)) {
    if (file === undefined) yield problem("FILES_MISSING", "the container's contents are not in the working folder");
    else yield { ok: true, file: unpackedFile(file) };
  }
}

const unpackedFile = ({ name, bytes, sha256 }: UnpackedFile): PayloadFile => ({
  name,
  source: { kind: "container" },
  size: bytes,
  digest: { algorithm: "sha256", value: sha256 },
});

function unsupported(type: string, isBatch: boolean): FetchItem {
  const why = isBatch ? "is the payload of a batch, not of a job" : "is none of file, container and manifest";
  return problem("UNSUPPORTED_TYPE", `payload type ${JSON.stringify(type)} ${why}`);
}

function singleFile(configuration: PayloadConfiguration): FetchItem {
  const source = originOf(configuration.payload_url);
  const name = configuration.payload_name ?? nameOf(source);
  if (name === "") return problem("NAME_REFUSED", "the payload has no file name, and its address ends without one");
  const digest = digestOf(configuration);
  if (!digest.ok) return digest;
  return { ok: true, file: { name, source, size: configuration.payload_size, digest: digest.value } };
}

function originOf(url: string): FileOrigin {
  const name = uploadName(url);
  return name === null ? { kind: "url", url } : { kind: "upload", name };
}

/** The last part of the address: what a browser would call the file. */
function nameOf(source: FileOrigin): string {
  if (source.kind === "upload") return source.name;
  if (!URL.canParse(source.url)) return "";
  const last = new URL(source.url).pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

type DigestItem =
  { readonly ok: true; readonly value: Digest | undefined } | { readonly ok: false; readonly problem: PayloadProblem };

/** A type without a value is ignored, as production does. */
function digestOf({ digest_type: type, digest_value: value }: PayloadConfiguration): DigestItem {
  if (type === undefined || value === undefined || value === "") return { ok: true, value: undefined };
  const digest = parseDigest(type, value);
  if (digest.ok) return { ok: true, value: digest.value };
  return problem("DIGEST_UNSUPPORTED", digest.problems.map(describeProblem).join("; "));
}

async function* manifestFiles(kept: ClaimFolder | null): AsyncGenerator<FetchItem> {
  const manifest = await kept?.top.readStream(MANIFEST_FILE);
  if (manifest === undefined || (!manifest.ok && manifest.error.code === "NOT_FOUND")) {
    yield problem("FILES_MISSING", "the object manifest is not in the working folder");
    return;
  }
  if (!manifest.ok) throw new IoError(manifest.error);
  for await (const event of readManifest(manifest.value, { kind: "object-manifest" })) {
    if (event.type === "problem") {
      yield problem("MANIFEST_CORRUPT", describeProblem(event.problem));
      return;
    }
    if (event.type === "row") yield rowFile(event.row);
  }
}

function rowFile({ row, fileUrl, fileName, fileSize, digest }: ManifestRow): FetchItem {
  if (fileUrl === undefined) return problem("MANIFEST_CORRUPT", `row ${row}: no URL`);
  if (fileName === undefined) return problem("MANIFEST_CORRUPT", `row ${row}: no file name`);
  return { ok: true, file: { name: fileName, source: { kind: "url", url: fileUrl }, size: fileSize, digest } };
}

const problem = (code: PayloadProblem["code"], message: string) => ({ ok: false, problem: { code, message } }) as const;
