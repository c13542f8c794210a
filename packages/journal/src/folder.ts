/** Files of the journal's folder: a change of names survives a power cut only when the folder is written too. */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

const FOLDER_MODE = 0o750;
/** Records may hold signed addresses. */
const FILE_MODE = 0o600;
const TEMPORARY = ".tmp";

/** Makes a folder and the ones above it, each on disk when this returns. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** A new file, empty and on disk. */
export async function createFile(folder: string, name: string): Promise<FileHandle> {
  const handle = await open(join(folder, name), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, FILE_MODE);
  await syncFolder(folder);
  return handle;
}

export const openFile = (folder: string, name: string): Promise<FileHandle> =>
  open(join(folder, name), constants.O_RDWR | constants.O_NOFOLLOW);

/** Whole or not at all, replacing what was there, and on disk when this returns. */
export async function replaceFile(folder: string, name: string, data: string | Uint8Array): Promise<void> {
  const temporary = join(folder, name + TEMPORARY);
  const handle = await open(temporary, "w", FILE_MODE);
  try {
    await handle.writeFile(data);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(folder, name));
  await syncFolder(folder);
}

export async function removeFiles(folder: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  for (const name of names) await unlink(join(folder, name));
  await syncFolder(folder);
}

export async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

const SEGMENT = /^(\d{20})\.log$/;
export const segmentName = (firstNumber: number): string => `${String(firstNumber).padStart(20, "0")}.log`;

export interface SegmentFile {
  readonly name: string;
  /** Number of the record that it begins with. */
  readonly first: number;
}

/** Oldest first. */
export async function listSegments(folder: string): Promise<readonly SegmentFile[]> {
  const segments = (await readdir(folder)).flatMap((name) => {
    const first = SEGMENT.exec(name)?.[1];
    return first === undefined ? [] : [{ name, first: Number(first) }];
  });
  return segments.sort((a, b) => a.first - b.first);
}
