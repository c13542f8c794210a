/** Writing so that it is still there after a power cut: every file and every folder is flushed before it is relied upon. */
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";

const CHUNK_BYTES = 1024 * 1024;

export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The file must not be there yet. */
export async function writeNew(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Puts a flushed file in place of another, in one step. */
export async function putInPlace(from: string, to: string): Promise<void> {
  await rename(from, to);
  await flushFolder(dirname(to));
}

/** Makes a folder and its parents, and flushes each parent that got a new child. */
export async function makeFolders(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) await flushFolder(dirname(folder));
}

/** Copies into a new file and answers with the SHA-512 of the bytes that went through. */
export async function copyHashed(from: string, to: string, signal: AbortSignal): Promise<string> {
  const source = await open(from, "r");
  try {
    const target = await open(to, "wx");
    try {
      const digest = await pump(source, target, signal);
      await target.sync();
      return digest;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function pump(source: FileHandle, target: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha512");
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return hash.digest("hex");
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await writeAll(target, piece);
  }
}

async function writeAll(target: FileHandle, piece: Buffer): Promise<void> {
  for (let done = 0; done < piece.length;) {
    done += (await target.write(piece, done, piece.length - done, null)).bytesWritten;
  }
}

/**
 * Makes the folders of relative file paths below `root`, one level at a time and never `root` itself: a root that was
 * taken away meanwhile must stay away.
 */
export async function makeFoldersBelow(root: string, filePaths: readonly string[]): Promise<readonly string[]> {
  const folders = new Set<string>();
  for (const path of filePaths) {
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.add(folder);
  }
  const parentsFirst = [...folders].sort((a, b) => a.length - b.length).map((folder) => join(root, folder));
  for (const folder of parentsFirst) await mkdir(folder);
  return parentsFirst;
}
