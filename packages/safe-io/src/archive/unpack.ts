import { createReadStream } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";

import { decompressBzip2 } from "../bzip2/decompress.ts";
import type { ContainedFolder } from "../disk/contained-folder.ts";
import { failure, IoError, type Outcome, success } from "../outcome.ts";
import { faultOfArchiveError, givenUp, tookTooLong } from "./fault.ts";
import { type ArchiveKind, HEAD_BYTES, isTarHeader, type OuterKind, outerKind, promisesTar } from "./kind.ts";
import { ARCHIVE_LIMITS, type ArchiveLimits, Budget } from "./limits.ts";
import { peek } from "./peek.ts";
import { storeSingleFile } from "./single-file.ts";
import { damaged, type UnpackedFile, type Unpacking, unwanted } from "./store-entry.ts";
import { unpackTar } from "./tar.ts";
import { unpackZip } from "./zip.ts";

export interface UnpackOptions {
  readonly limits?: Partial<ArchiveLimits>;
  readonly signal?: AbortSignal;
  /** A clock that never goes back. */
  readonly nowMs?: () => number;
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
 * Unpacks a container into an empty folder: zip, tar, tar.gz, tar.bz2, and a single file under gzip or bzip2, which is then
 * called like the container without its suffix. All of it is in the folder afterwards, byte for byte under its own names,
 * or nothing; the fault names the entry that is to blame. Containers inside are left alone.
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
    return success(await unpack(handle.value, name, target, options));
  } catch (error) {
    await target.clear();
    return failure(faultOfArchiveError(error, ""));
  } finally {
    await handle.value.close();
  }
}

async function unpack(
  handle: FileHandle,
  name: string,
  target: ContainedFolder,
  options: UnpackOptions,
): Promise<Unpacked> {
  const outer = await outerKind(handle);
  if (outer === undefined) throw damaged("", "it is neither zip nor tar, gzip or bzip2");
  const { size } = await handle.stat();
  const budget = new Budget({ ...ARCHIVE_LIMITS, ...options.limits }, size);
  const count = new Count(target, budget.maxMs, options);
  const kind = await unpackKind(outer, handle, name, budget, count);
  if (count.files === 0) throw unwanted("", "there is no file in it");
  return { kind, files: count.files, bytes: count.bytes };
}

async function unpackKind(
  outer: OuterKind,
  handle: FileHandle,
  name: string,
  budget: Budget,
  count: Count,
): Promise<ArchiveKind> {
  switch (outer) {
    case "zip":
      await unpackZip(handle, budget, count);
      return outer;
    case "tar":
      await unpackTar(rawStream(handle), budget, count);
      return outer;
    case "gz":
    case "bz2":
      return (await unpackCompressed(decompressed(handle, outer), name, budget, count)) === "tar"
        ? `tar.${outer}`
        : outer;
  }
}

/** A tar, or else the one file that was compressed. A name that promises a tar is held to it. */
async function unpackCompressed(
  content: AsyncIterable<Uint8Array>,
  name: string,
  budget: Budget,
  count: Count,
): Promise<"tar" | "file"> {
  const { head, whole } = await peek(content, HEAD_BYTES);
  if (promisesTar(name) || isTarHeader(head)) {
    await unpackTar(whole, budget, count);
    return "tar";
  }
  await storeSingleFile(whole, name, budget, count);
  return "file";
}

const rawStream = (handle: FileHandle): Readable => createReadStream("", { fd: handle, autoClose: false, start: 0 });

/** Errors come to whoever reads. */
function decompressed(handle: FileHandle, compression: "gz" | "bz2"): AsyncIterable<Uint8Array> {
  const raw = rawStream(handle);
  return compression === "bz2" ? decompressBzip2(raw) : pipeline(raw, createGunzip(), () => undefined);
}

class Count implements Unpacking {
  readonly target: ContainedFolder;
  readonly #options: UnpackOptions;
  readonly #nowMs: () => number;
  readonly #maxMs: number;
  readonly #endsMs: number;
  files = 0;
  bytes = 0;

  constructor(target: ContainedFolder, maxMs: number, options: UnpackOptions) {
    this.target = target;
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#maxMs = maxMs;
    this.#endsMs = this.#nowMs() + maxMs;
  }

  readonly goOn = (name: string): void => {
    if (this.#options.signal?.aborted === true) throw new IoError(givenUp(name));
    if (this.#nowMs() > this.#endsMs) throw new IoError(tookTooLong(name, this.#maxMs, this.files));
  };

  readonly onProgress = (bytes: number): void => this.#options.onProgress?.(this.bytes + bytes);

  readonly onFile = async (file: UnpackedFile): Promise<void> => {
    this.files += 1;
    this.bytes += file.bytes;
    await this.#options.onFile?.(file);
  };
}
