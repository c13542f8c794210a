import { createReadStream } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";

import type { ContainedFolder } from "../disk/contained-folder.ts";
import { failure, IoError, type Outcome, success } from "../outcome.ts";
import { faultOfArchiveError } from "./fault.ts";
import { type ArchiveKind, archiveKind } from "./kind.ts";
import { ARCHIVE_LIMITS, type ArchiveLimits, Budget } from "./limits.ts";
import { damaged, type UnpackedFile, type Unpacking, unwanted } from "./store-entry.ts";
import { unpackTar } from "./tar.ts";
import { unpackZip } from "./zip.ts";

export interface UnpackOptions {
  readonly limits?: Partial<ArchiveLimits>;
  readonly signal?: AbortSignal;
  /** Bytes unpacked so far. */
  readonly onProgress?: (bytes: number) => void;
  /** Called for each file when it is here, one after the other, in the container's order. */
  readonly onFile?: (file: UnpackedFile) => void | Promise<void>;
}

export interface Unpacked {
  readonly kind: ArchiveKind;
  readonly files: number;
  readonly bytes: number;
}

/**
 * Unpacks a container into an empty folder: zip, tar, tar.gz. All of it is in the folder afterwards, byte for byte under
 * its own names, or nothing; the fault names the entry that is to blame. Containers inside are left alone.
 */
export async function unpackTo(
  folder: ContainedFolder,
  name: string,
  target: ContainedFolder,
  options: UnpackOptions = {},
): Promise<Outcome<Unpacked>> {
  const empty = await target.isEmpty();
  if (!empty.ok) return empty;
  if (!empty.value) return failure({ code: "ALREADY_THERE", message: "the folder is not empty", retryable: false });
  const handle = await folder.open(name);
  if (!handle.ok) return handle;
  try {
    return success(await unpack(handle.value, target, options));
  } catch (error) {
    await target.clear();
    return failure(faultOfArchiveError(error, ""));
  } finally {
    await handle.value.close();
  }
}

async function unpack(handle: FileHandle, target: ContainedFolder, options: UnpackOptions): Promise<Unpacked> {
  const kind = await archiveKind(handle);
  if (kind === undefined) throw damaged("", "it is neither zip nor tar, tar.gz or tar.bz2");
  const { size } = await handle.stat();
  const budget = new Budget({ ...ARCHIVE_LIMITS, ...options.limits }, size);
  const count = new Count(target, options);
  if (kind === "zip") await unpackZip(handle, budget, count);
  else await unpackTar(tarStream(handle, kind), budget, count);
  if (count.files === 0) throw unwanted("", "there is no file in it");
  return { kind, files: count.files, bytes: count.bytes };
}

function tarStream(handle: FileHandle, kind: Exclude<ArchiveKind, "zip">): AsyncIterable<Uint8Array> {
  const raw = createReadStream("", { fd: handle, autoClose: false, start: 0 });
  switch (kind) {
    case "tar":
      return raw;
    case "tar.gz":
      return pipeline(raw, createGunzip(), () => undefined); // errors come to whoever reads
    case "tar.bz2":
      throw new IoError({
        code: "ARCHIVE_REFUSED",
        message: "bzip2 is not unpacked: use tar.gz or zip",
        retryable: false,
      });
  }
}

class Count implements Unpacking {
  readonly target: ContainedFolder;
  readonly signal?: AbortSignal;
  readonly #options: UnpackOptions;
  files = 0;
  bytes = 0;

  constructor(target: ContainedFolder, options: UnpackOptions) {
    this.target = target;
    this.#options = options;
    if (options.signal !== undefined) this.signal = options.signal;
  }

  readonly onProgress = (bytes: number): void => this.#options.onProgress?.(this.bytes + bytes);

  readonly onFile = async (file: UnpackedFile): Promise<void> => {
    this.files += 1;
    this.bytes += file.bytes;
    await this.#options.onFile?.(file);
  };
}
