/** Where uploads land before their batch has a number: a folder of their own, which becomes the batch's by one rename. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { batchFolder, type BatchPlace } from "@sluice/queue-core";
import { ContainedFolder, type DigestName, type Digests, IoError, type Outcome } from "@sluice/safe-io";
import { failure, success } from "./fault.ts";
import { HEAD_BYTES } from "./head.ts";
import { meterFile } from "./meter-file.ts";

/** Beside the batches' folders, on the same volume. */
export const INCOMING = ".incoming";
const received = (slot: number): string => `received-${slot}`;

export interface StoredUpload {
  readonly bytes: number;
  readonly digests: Digests;
  /** The beginning, as text. */
  readonly head: string;
}

export interface IncomingFolder {
  readonly id: string;
  /** Streams an upload to disk, counting and hashing on the way; it is on disk when this answers. Slots count from 0. */
  receive(
    slot: number,
    body: Readable,
    algorithms: readonly DigestName[],
    signal: AbortSignal,
  ): Promise<Outcome<StoredUpload>>;
  /** Another digest of what was received, for a form that names the algorithm after the file. */
  digestsOf(slot: number, algorithms: readonly DigestName[], signal: AbortSignal): Promise<Outcome<Digests>>;
  /** Gives the uploads, in the order of their slots, the names that they keep. */
  nameAll(names: readonly string[]): Promise<Outcome<void>>;
  /** The folder is the batch's from now on. ALREADY_THERE: another batch has a folder of that name, which stays as it is. */
  becomeBatch(batch: BatchPlace): Promise<Outcome<void>>;
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
    id,
    receive: (slot, body, algorithms, signal) => receive(folder, received(slot), body, algorithms, signal),
    async digestsOf(slot, algorithms, signal) {
      const stream = await folder.readStream(received(slot));
      if (!stream.ok) return stream;
      const metered = await meterFile(stream.value, null, algorithms, signal);
      return metered.ok ? success(metered.value.digests) : metered;
    },
    async nameAll(names) {
      for (const [slot, name] of names.entries()) {
        const named = await folder.move(received(slot), folder, `uploads/${name}`);
        if (!named.ok) return named;
      }
      return success(undefined);
    },
    becomeBatch: (batch) => root.move(`${INCOMING}/${id}`, root, batchFolder(batch)),
    async discard() {
      await root.remove(`${INCOMING}/${id}`);
    },
  };
}

async function receive(
  folder: ContainedFolder,
  name: string,
  body: Readable,
  algorithms: readonly DigestName[],
  signal: AbortSignal,
): Promise<Outcome<StoredUpload>> {
  const file = await folder.begin(name);
  if (!file.ok) return file;
  const head = Buffer.alloc(HEAD_BYTES);
  let headBytes = 0;
  const keepHead = (chunk: Uint8Array, before: number): void => {
    if (before < HEAD_BYTES) headBytes += Buffer.from(chunk).copy(head, before);
  };
  const metered = await meterFile(body, file.value.handle, algorithms, signal, keepHead);
  if (!metered.ok) {
    await file.value.abandon();
    return failure(metered.error);
  }
  const finished = await file.value.finish();
  if (!finished.ok) return finished;
  return success({ ...metered.value, head: head.subarray(0, headBytes).toString("utf8") });
}
