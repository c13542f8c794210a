import {
  type ContainedFolder,
  copyTo,
  digestMatches,
  type Downloaded,
  type DownloadOptions,
  type ExpectedDigest,
  meterStream,
  type Outcome,
} from "@sluice/safe-io";
import { type FileToFetch, REJECTED_FOLDER, takeOver } from "@sluice/working-folder";
import { type FileVerdict, verdictOnFault } from "./file-verdict.ts";

/** Fetches a URL into a file of a folder, verified: safe-io's downloadTo, bound to the way out. */
export type Download = (
  url: string,
  folder: ContainedFolder,
  name: string,
  options: DownloadOptions,
) => Promise<Outcome<Downloaded>>;

/** Where the files of this job come from and go to. */
export interface Places {
  /** Where they go. */
  readonly target: ContainedFolder;
  /** The same folder of earlier claims. */
  readonly earlier: readonly ContainedFolder[];
  readonly uploads: ContainedFolder;
  /** The claim's own folder, where what came with a wrong digest is kept aside. */
  readonly top: ContainedFolder;
}

export interface ObtainOptions {
  /** For whose deposit it is fetched, and so with whose credentials. */
  readonly profile: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly onProgress: (bytes: number) => void;
}

/** Brings one file into the claim's folder, whole and with the right digest, from wherever it is nearest. */
export async function obtainFile(
  file: FileToFetch,
  places: Places,
  download: Download,
  options: ObtainOptions,
): Promise<FileVerdict> {
  await takeOverVerified(file, places);
  const got = await fetchOrCopy(file, places, download, { ...options, ...expectationsOf(file, places) });
  return got.ok ? { kind: "got", bytes: got.value } : verdictOnFault(file.name, got.error, file.size !== undefined);
}

/** Only a digest proves that an earlier claim's file is the one we want; without one it is fetched anew. */
async function takeOverVerified({ name, digest }: FileToFetch, { target, earlier }: Places): Promise<void> {
  if (digest === undefined || earlier.length === 0) return;
  await takeOver(target, earlier, name, (folder) => hasDigest(folder, name, digest));
}

async function hasDigest(folder: ContainedFolder, name: string, digest: ExpectedDigest): Promise<boolean> {
  const stream = await folder.readStream(name);
  if (!stream.ok) return false;
  try {
    return digestMatches((await meterStream(stream.value, [digest.algorithm])).digests, digest);
  } catch {
    return false; // what cannot be read is fetched again
  }
}

type Expectations = Pick<DownloadOptions, "expectedDigest" | "expectedBytes" | "rejected">;

const expectationsOf = ({ name, digest, size }: FileToFetch, { top }: Places): Expectations => ({
  rejected: { folder: top, name: `${REJECTED_FOLDER}/${name}` },
  ...(digest === undefined ? {} : { expectedDigest: digest }),
  ...(size === undefined ? {} : { expectedBytes: size }),
});

/** A download begins by looking whether a verified file is there already: what was taken over is not fetched again. */
async function fetchOrCopy(
  file: FileToFetch,
  { target, uploads }: Places,
  download: Download,
  options: ObtainOptions & Expectations,
): Promise<Outcome<number>> {
  const { source, name } = file;
  const got =
    source.kind === "upload"
      ? await copyTo(uploads, source.name, target, name, options)
      : await download(source.url, target, name, { ...options, request: { profile: options.profile } });
  return got.ok ? { ok: true, value: got.value.bytes } : got;
}
