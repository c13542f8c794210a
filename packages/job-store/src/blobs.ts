/**
 * What is too large for the tree, in files that are named by their content. A blob is on disk, under its name, before
 * anybody names it; the same bytes are the same file, however often and by whomever they are put.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type BlobRef, type BlobStore, DATA_BYTES, RESULT_BYTES } from "@sluice/job-queue";
import { ContainedFolder, IoError, type Outcome, type UnfinishedFile } from "@sluice/safe-io";
import { blobName, DOOMED, doomedCopies, FRESH_MS } from "./blob-files.ts";
import { sweepBlobs, type SweepPorts, type Swept } from "./sweep.ts";

/** What one blob may hold: the data of a job, or what a run left. */
export const BLOB_BYTES = { data: DATA_BYTES, result: RESULT_BYTES } as const;

export interface Clock {
  readonly nowMs: () => number;
}

export async function openBlobs(folder: string, clock: Clock): Promise<Blobs> {
  const root = valueOf(await ContainedFolder.open(folder));
  valueOf(await root.sub(DOOMED));
  return new Blobs(root, clock);
}

/** What the disk refuses, and what is larger than allowed, is thrown as an IoError. */
export class Blobs implements BlobStore {
  readonly #folder: ContainedFolder;
  readonly #clock: Clock;

  constructor(folder: ContainedFolder, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  async put(bytes: Uint8Array, limit: number = BLOB_BYTES.result): Promise<BlobRef> {
    if (bytes.length > limit) throw tooLarge(limit);
    const ref = { sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
    if (!(await this.#isFresh(ref))) valueOf(await this.#folder.write(blobName(ref.sha256), bytes));
    return ref;
  }

  /** As it comes, without holding it in memory. */
  async putStream(source: AsyncIterable<Uint8Array>, limit: number = BLOB_BYTES.result): Promise<BlobRef> {
    const file = valueOf(await this.#folder.begin("incoming"));
    let ref: BlobRef;
    try {
      ref = await pour(source, file, limit);
    } catch (error) {
      await file.abandon();
      throw error;
    }
    valueOf(await file.setAside(this.#folder, blobName(ref.sha256)));
    return ref;
  }

  async get({ sha256 }: BlobRef): Promise<Buffer | null> {
    return this.#find(sha256, (name) => this.#folder.read(name));
  }

  /** The stream closes the file. */
  async open({ sha256 }: BlobRef): Promise<Readable | null> {
    return this.#find(sha256, (name) => this.#folder.readStream(name));
  }

  /** Removes what nobody has named for an hour. */
  sweep(ports: Pick<SweepPorts, "named" | "failpoint">): Promise<Swept> {
    return sweepBlobs(this.#folder, { ...ports, nowMs: this.#clock.nowMs() });
  }

  /** Young enough that no sweep will touch it before whoever puts it now has named it. */
  async #isFresh({ sha256, bytes }: BlobRef): Promise<boolean> {
    const there = await this.#folder.stat(blobName(sha256));
    return there.ok && there.value.bytes === bytes && there.value.modifiedMs > this.#clock.nowMs() - FRESH_MS;
  }

  /** A sweep that changes its mind has a blob under another name for a moment: looked for there too, and then again. */
  async #find<T>(sha256: string, read: (name: string) => Promise<Outcome<T>>): Promise<T | null> {
    const name = blobName(sha256);
    const there = orNull(await read(name));
    if (there !== null) return there;
    for (const copy of await doomedCopies(join(this.#folder.root, DOOMED), sha256)) {
      const found = orNull(await read(`${DOOMED}/${copy}`));
      if (found !== null) return found;
    }
    return orNull(await read(name));
  }
}

async function pour(source: AsyncIterable<Uint8Array>, { handle }: UnfinishedFile, limit: number): Promise<BlobRef> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > limit) throw tooLarge(limit);
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  return { sha256: hash.digest("hex"), bytes };
}

const tooLarge = (limit: number): IoError =>
  new IoError({ code: "TOO_LARGE", message: `a blob of more than ${limit} bytes`, retryable: false });

function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new IoError(outcome.error);
}

/** Null: it is not there. */
function orNull<T>(outcome: Outcome<T>): T | null {
  return !outcome.ok && outcome.error.code === "NOT_FOUND" ? null : valueOf(outcome);
}
