/**
 * STORAGE_URL=merritt+http(s)://HOST/…: reads versions from Merritt's storage service, and from nowhere else. The service
 * knows nothing of jobs, but mrt-ingest.txt of each version does; the version of a job is the one whose file names it.
 */
import { createHash } from "node:crypto";
import {
  describeProblem,
  type ObjectInfo,
  type ObjectInfoFile,
  type ObjectInfoVersion,
  parseIngestFile,
  parseObjectInfo,
} from "@sluice/ingest-formats";
import type { StoredFile } from "@sluice/inventory";
import type { Egress } from "@sluice/safe-io";
import { INGEST_FILE, parseSystemFiles, SYSTEM_FILES, type SystemTexts } from "./system-files.ts";
import { damaged, type NotRead, type ReadVersion, unavailable, type VersionReader } from "./version-reader.ts";

/** 360,000 files have been seen in one object. */
const MANIFEST_MAX = 200_000_000;
const TEXT_MAX = 8 * 1024 * 1024;

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
  const text = await fetchText(visit, visit.manifestUrl, MANIFEST_MAX);
  if (!text.ok) return text.result;
  const info = parseObjectInfo(text.value);
  if (!info.ok) return unavailable(`${visit.manifestUrl}: ${info.problems.map(describeProblem).join("; ")}`);
  const own = await versionOf(visit, info.value, job);
  if (!own.ok) return own.result;
  const { number, version } = own.value;
  const texts = await readTexts(visit, number, version);
  if (!texts.ok) return texts.result;
  const system = parseSystemFiles(texts.value);
  if (!system.ok) return damaged(`${visit.manifestUrl}: ${system.problem}`);
  const files = [...version.files].map(([path, file]) => storedFile(path, file, number));
  const { manifestUrl } = visit;
  const { ark } = info.value;
  return {
    kind: "read",
    version: { ark, number, created: version.created, note: "", manifestUrl, files, ...system.facts },
  };
}

interface OwnVersion {
  readonly number: number;
  readonly version: ObjectInfoVersion;
}

/** Most likely the newest. */
async function versionOf(visit: Visit, { versions }: ObjectInfo, job: string): Promise<Got<OwnVersion>> {
  for (const [number, version] of [...versions].sort(([a], [b]) => b - a)) {
    if (!version.files.has(INGEST_FILE)) continue;
    const text = await readFile(visit, number, version, INGEST_FILE);
    if (!text.ok) return text;
    const ingest = parseIngestFile(text.value);
    if (ingest.ok && ingest.value.job === job) return got({ number, version });
  }
  return failed(damaged(`no version in ${visit.manifestUrl} was stored by ${job}`));
}

async function readTexts(visit: Visit, number: number, version: ObjectInfoVersion): Promise<Got<SystemTexts>> {
  const texts: Partial<Record<keyof SystemTexts, string>> = {};
  for (const path of SYSTEM_FILES) {
    const text = await readFile(visit, number, version, path);
    if (!text.ok) return text;
    texts[path] = text.value;
  }
  return got(texts as SystemTexts);
}

/** Believed only if it is what the manifest says. */
async function readFile(visit: Visit, number: number, version: ObjectInfoVersion, path: string): Promise<Got<string>> {
  const expected = version.files.get(path);
  if (expected === undefined) return failed(damaged(`${visit.manifestUrl}: version ${number} has no ${path}`));
  const text = await fetchText(visit, `${visit.contentUrl}/${number}/${encodeURIComponent(path)}`, TEXT_MAX);
  if (!text.ok || digestTypeOf(expected) !== "sha-256") return text;
  const digest = createHash("sha256").update(text.value).digest("hex");
  if (digest === expected.digest) return text;
  return failed(unavailable(`${path} of version ${number} came as ${digest} instead of ${expected.digest}`));
}

async function fetchText({ egress, signal }: Visit, url: string, maxBytes: number): Promise<Got<string>> {
  const answer = await egress.get(url, { signal, maxBytes });
  const text = answer.ok ? await answer.value.text() : answer;
  return text.ok ? got(text.value) : failed(unavailable(text.error.message));
}

const digestTypeOf = ({ digestType }: ObjectInfoFile): string => digestType.toLowerCase();

const storedFile = (path: string, file: ObjectInfoFile, number: number): StoredFile => ({
  path,
  bytes: file.size,
  billableBytes: (file.contentOf ?? number) === number ? file.size : 0,
  mimeType: file.mimeType,
  digestType: digestTypeOf(file),
  digestValue: file.digest,
});
