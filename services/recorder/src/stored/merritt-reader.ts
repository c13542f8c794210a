/**
 * STORAGE_URL=merritt+http(s)://HOST/…: reads versions from Merritt's storage service, and from nowhere else. The service
 * knows nothing of jobs, but mrt-ingest.txt of each version does; the version of a job is the one whose file names it.
 */
import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import {
  describeProblem,
  type ObjectInfo,
  type ObjectInfoFile,
  type ObjectInfoVersion,
  parseIngestFile,
  parseObjectInfo,
} from "@sluice/ingest-formats";
import type { StoredFile, StoredVersion } from "@sluice/inventory";
import { type Egress, IoError } from "@sluice/safe-io";
import { parseProducerFiles, producerFilesToRead } from "./producer-files.ts";
import { asTexts, INGEST_FILE, parseSystemFiles, SYSTEM_FILES } from "./system-files.ts";
import { damaged, type NotRead, type ReadVersion, unavailable, type VersionReader } from "./version-reader.ts";

/** 360,000 files have been seen in one object. */
const MANIFEST_MAX = 200_000_000;
const FILE_MAX = 8 * 1024 * 1024;

export interface MerrittReaderParts {
  /** Without a slash at the end. */
  readonly base: string;
  readonly egress: Egress;
}

export const merrittReader = (parts: MerrittReaderParts): VersionReader => ({
  read: (manifestUrl, { job, signal }) => {
    const place = placeOf(parts, manifestUrl);
    if (place === null) return Promise.resolve(damaged(`${manifestUrl} is no object of ${parts.base}`));
    return readVersion({ egress: parts.egress, manifestUrl, contentUrl: place, signal }, job);
  },
});

/** The address of the object's content; null if the manifest is not of our store. */
function placeOf({ base }: MerrittReaderParts, manifestUrl: string): string | null {
  const start = `${base}/manifest/`;
  const rest = manifestUrl.startsWith(start) ? manifestUrl.slice(start.length) : "";
  return /^\d+\/[^/?#]+$/.test(rest) ? `${base}/content/${rest}` : null;
}

interface Visit {
  readonly egress: Egress;
  readonly manifestUrl: string;
  readonly contentUrl: string;
  readonly signal: AbortSignal;
}

type Got<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly result: NotRead };
const got = <T>(value: T): Got<T> => ({ ok: true, value });
const failed = (result: NotRead) => ({ ok: false, result }) as const;

async function readVersion(visit: Visit, job: string): Promise<ReadVersion> {
  const manifest = await fetchBytes(visit, visit.manifestUrl, MANIFEST_MAX);
  if (!manifest.ok) return manifest.result;
  const info = parseObjectInfo(manifest.value.toString("utf8"));
  if (!info.ok) return unavailable(`${visit.manifestUrl}: ${info.problems.map(describeProblem).join("; ")}`);
  const own = await versionOf(visit, info.value, job);
  if (!own.ok) return own.result;
  const { number, version } = own.value;
  const facts = await readFacts(visit, own.value);
  if (!facts.ok) return facts.result;
  const { manifestUrl } = visit;
  const { ark } = info.value;
  return { kind: "read", version: { ark, number, created: version.created, note: "", manifestUrl, ...facts.value } };
}

type Facts = Omit<StoredVersion, "ark" | "number" | "created" | "note" | "manifestUrl">;

async function readFacts(visit: Visit, own: OwnVersion): Promise<Got<Facts>> {
  const texts = await readFiles(visit, own, SYSTEM_FILES);
  if (!texts.ok) return texts;
  const system = parseSystemFiles(asTexts(texts.value));
  if (!system.ok) return failed(damaged(`${visit.manifestUrl}: ${system.problem}`));
  const files = [...own.version.files].map(([path, file]) => storedFile(visit, own.number, path, file));
  const contents = await readFiles(visit, own, producerFilesToRead(files));
  if (!contents.ok) return contents;
  const producer = parseProducerFiles(files, contents.value);
  if (!producer.ok) return failed(damaged(`${visit.manifestUrl}: ${producer.problem}`));
  return got({ files, ...system.facts, ...producer.facts });
}

interface OwnVersion {
  readonly number: number;
  readonly version: ObjectInfoVersion;
}

/** Most likely the newest. */
async function versionOf(visit: Visit, { versions }: ObjectInfo, job: string): Promise<Got<OwnVersion>> {
  for (const [number, version] of [...versions].sort(([a], [b]) => b - a)) {
    if (!version.files.has(INGEST_FILE)) continue;
    const file = await readFile(visit, { number, version }, INGEST_FILE);
    if (!file.ok) return file;
    const ingest = parseIngestFile(file.value.toString("utf8"));
    if (ingest.ok && ingest.value.job === job) return got({ number, version });
  }
  return failed(damaged(`no version in ${visit.manifestUrl} was stored by ${job}`));
}

async function readFiles(
  visit: Visit,
  own: OwnVersion,
  paths: readonly string[],
): Promise<Got<ReadonlyMap<string, Buffer>>> {
  const contents = new Map<string, Buffer>();
  for (const path of paths) {
    const file = await readFile(visit, own, path);
    if (!file.ok) return file;
    contents.set(path, file.value);
  }
  return got(contents);
}

/** Believed only if it is what the manifest says. */
async function readFile(visit: Visit, { number, version }: OwnVersion, path: string): Promise<Got<Buffer>> {
  const expected = version.files.get(path);
  if (expected === undefined) return failed(damaged(`${visit.manifestUrl}: version ${number} has no ${path}`));
  const file = await fetchBytes(visit, contentUrlOf(visit, number, path), FILE_MAX);
  if (!file.ok || digestTypeOf(expected) !== "sha-256") return file;
  const digest = createHash("sha256").update(file.value).digest("hex");
  if (digest === expected.digest) return file;
  return failed(unavailable(`${path} of version ${number} came as ${digest} instead of ${expected.digest}`));
}

async function fetchBytes({ egress, signal }: Visit, url: string, maxBytes: number): Promise<Got<Buffer>> {
  const answer = await egress.get(url, { signal, maxBytes });
  if (!answer.ok) return failed(unavailable(answer.error.message));
  try {
    return got(await buffer(answer.value.body));
  } catch (error) {
    if (error instanceof IoError) return failed(unavailable(error.message));
    throw error;
  }
}

const contentUrlOf = ({ contentUrl }: Visit, number: number, path: string): string =>
  `${contentUrl}/${number}/${encodeURIComponent(path)}`;

const digestTypeOf = ({ digestType }: ObjectInfoFile): string => digestType.toLowerCase();

const storedFile = (visit: Visit, number: number, path: string, file: ObjectInfoFile): StoredFile => ({
  path,
  bytes: file.size,
  isNew: (file.contentOf ?? number) === number,
  // The auditor computes the digest itself: the service need not, as Merritt's own rows say.
  contentUrl: `${contentUrlOf(visit, number, path)}?fixity=no`,
  mimeType: file.mimeType,
  digestType: digestTypeOf(file),
  digestValue: file.digest,
});
