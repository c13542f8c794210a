/** Where an upload lands before its batch has a number: a folder of its own, which becomes the batch's by one rename. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { ContainedFolder, type DigestName, type Digests, IoError, type Outcome } from "@sluice/safe-io";
import { failure, success } from "./fault.ts";
import { HEAD_BYTES } from "./head.ts";
import { meterFile } from "./meter-file.ts";

/** Beside the batches' folders, on the same volume. */
export const INCOMING = ".incoming";
/** Folders of batches of another history of the queue, found under a number that has just been given out. */
const STALE = ".stale";
const RECEIVED = "received";

export interface StoredUpload {
  readonly bytes: number;
  readonly digests: Digests;
  /** The beginning, as text. */
  readonly head: string;
}

export interface IncomingFolder {
  /** Streams an upload to disk, counting and hashing on the way; it is on disk when this answers. */
  receive(body: Readable, algorithms: readonly DigestName[], signal: AbortSignal): Promise<Outcome<StoredUpload>>;
  /** Another digest of what was received, for a form that names the algorithm after the file. */
  digestsOf(algorithms: readonly DigestName[], signal: AbortSignal): Promise<Outcome<Digests>>;
  /** Gives the upload its name and the folder to the batch. */
  becomeBatch(bid: string, name: string): Promise<Outcome<void>>;
  discard(): Promise<void>;
}

export interface IncomingFolders {
  open(id: string): Promise<Outcome<IncomingFolder>>;
  /** Removes folders in which nothing was begun since then; answers their names. */
  removeOlderThan(ms: number): Promise<readonly string[]>;
}

export async function openIncoming(workingDir: string): Promise<IncomingFolders> {
  const root = await ContainedFolder.open(workingDir);
  if (!root.ok) throw new IoError(root.error);
  return {
    async open(id) {
      const folder = await root.value.sub(`${INCOMING}/${id}`);
      return folder.ok ? success(incomingFolder(root.value, folder.value, id)) : folder;
    },
    removeOlderThan: (ms) => removeOlderThan(root.value, ms),
  };
}

async function removeOlderThan(root: ContainedFolder, ms: number): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const id of await readdir(join(root.root, INCOMING)).catch(() => [])) {
    const name = `${INCOMING}/${id}`;
    const facts = await root.stat(name);
    if (facts.ok && facts.value.modifiedMs < ms && (await root.remove(name)).ok) removed.push(id);
  }
  return removed;
}

function incomingFolder(root: ContainedFolder, folder: ContainedFolder, id: string): IncomingFolder {
  return {
    receive: (body, algorithms, signal) => receive(folder, body, algorithms, signal),
    async digestsOf(algorithms, signal) {
      const stream = await folder.readStream(RECEIVED);
      if (!stream.ok) return stream;
      const metered = await meterFile(stream.value, null, algorithms, signal);
      return metered.ok ? success(metered.value.digests) : metered;
    },
    async becomeBatch(bid, name) {
      const named = await folder.move(RECEIVED, folder, `uploads/${name}`);
      if (!named.ok) return named;
      // The number is ours alone: what stands under it was left by another history of the queue.
      if ((await root.stat(bid)).ok) {
        const aside = await root.move(bid, root, `${STALE}/${bid}-${id}`);
        if (!aside.ok) return aside;
      }
      return root.move(`${INCOMING}/${id}`, root, bid);
    },
    async discard() {
      await root.remove(`${INCOMING}/${id}`);
    },
  };
}

async function receive(
  folder: ContainedFolder,
  body: Readable,
  algorithms: readonly DigestName[],
  signal: AbortSignal,
): Promise<Outcome<StoredUpload>> {
  const file = await folder.begin(RECEIVED);
  if (!file.ok) return file;
  const head = Buffer.alloc(HEAD_BYTES);
  let headBytes = 0;
  const keepHead = (chunk: Uint8Array, before: number): void => {
    if (before < HEAD_BYTES) headBytes += Buffer.from(chunk).copy(head, before);
  };
  const received = await meterFile(body, file.value.handle, algorithms, signal, keepHead);
  if (!received.ok) {
    await file.value.abandon();
    return failure(received.error);
  }
  const finished = await file.value.finish();
  if (!finished.ok) return finished;
  return success({ ...received.value, head: head.subarray(0, headBytes).toString("utf8") });
}
