import type { ContainedFolder } from "../disk/contained-folder.ts";
import { visibleName } from "../disk/names.ts";
import { pourInto } from "../disk/pour.ts";
import { IoError } from "../outcome.ts";
import { endFile } from "../rejected.ts";
import { corrupt, faultOfArchiveError, refused } from "./fault.ts";

export interface UnpackedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Where the entries of a container go. */
export interface Unpacking {
  readonly target: ContainedFolder;
  /** Throws an IoError where whoever waits has given up, or where it takes too long. Asked at each entry and each chunk. */
  readonly goOn: (name: string) => void;
  /** Bytes of the file under way. */
  readonly onProgress: (bytes: number) => void;
  /** A file is here, whole. */
  readonly onFile: (file: UnpackedFile) => Promise<void>;
}

/** Makes a file of one entry. Throws an IoError that names it. */
export async function storeEntry(
  unpacking: Unpacking,
  name: string,
  content: AsyncIterable<Uint8Array>,
  promised: { readonly bytes?: number; readonly crc32?: number },
): Promise<void> {
  const { target, onProgress, onFile } = unpacking;
  unpacking.goOn(name);
  if ((await target.stat(name)).ok) throw new IoError(refused(name, "there are two entries of this name"));
  const file = await target.begin(name);
  if (!file.ok) throw new IoError(file.error);
  const poured = await endFile(
    file.value,
    await pourInto(namedErrors(content, name, unpacking), file.value, visibleName(name), {
      algorithms: ["sha256", "crc32"],
      ...(promised.bytes === undefined ? {} : { expectedBytes: promised.bytes }),
      ...(promised.crc32 === undefined ? {} : { expectedDigest: crcOf(promised.crc32) }),
      onProgress,
    }),
  );
  if (!poured.ok) throw new IoError(ownFault(poured.error));
  await onFile({ name, bytes: poured.value.bytes, sha256: poured.value.digests.sha256 ?? "" });
}

const crcOf = (crc32: number) => ({ algorithm: "crc32", value: crc32.toString(16).padStart(8, "0") }) as const;

/** The container contradicts itself: that is damage, not another file than the depositor announced. */
const ownFault = (fault: IoError["fault"]): IoError["fault"] =>
  fault.code === "SIZE_MISMATCH" || fault.code === "DIGEST_MISMATCH" ? { ...fault, code: "ARCHIVE_CORRUPT" } : fault;

async function* namedErrors(
  content: AsyncIterable<Uint8Array>,
  name: string,
  { goOn }: Pick<Unpacking, "goOn">,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of content) {
      goOn(name);
      yield chunk;
    }
  } catch (error) {
    throw new IoError(faultOfArchiveError(error, name));
  }
}

export const damaged = (entry: string, why: string): IoError => new IoError(corrupt(entry, why));
export const unwanted = (entry: string, why: string): IoError => new IoError(refused(entry, why));
