/**
 * Takes runs out of a file whose other lines must stay where they are: in their place stand spaces. A crash in between leaves a
 * line that begins with spaces; it is blanked when the job is forgotten again.
 */
import { type FileHandle, open } from "node:fs/promises";
import { parseRun } from "./line.ts";
import { nullIfMissing } from "./segment-file.ts";

const NEWLINE = 10;
const STEP_BYTES = 64 * 1024;

/** Those of these places at which a run of such a job stands. Answers whether there was one; it is on disk then. */
export async function blankRuns(path: string, offsets: readonly number[], ids: ReadonlySet<number>): Promise<boolean> {
  const handle = offsets.length === 0 ? null : await open(path, "r+").catch(nullIfMissing);
  if (handle === null) return false;
  let blanked = 0;
  try {
    const before = await handle.stat();
    for (const offset of offsets) {
      const line = await lineAt(handle, offset);
      if (!isOf(line.toString("utf8"), ids)) continue;
      await writeAll(handle, Buffer.alloc(line.length, " "), offset);
      blanked += 1;
    }
    if (blanked === 0) return false;
    // Its time to be purged does not change.
    await handle.utimes(before.atime, before.mtime);
    await handle.sync();
    return true;
  } finally {
    await handle.close();
  }
}

/** Of a whole file: where its lines begin. */
export async function linesOf(path: string): Promise<readonly number[]> {
  const handle = await open(path).catch(nullIfMissing);
  if (handle === null) return [];
  try {
    const bytes = await handle.readFile();
    const offsets: number[] = [];
    for (let from = 0; from < bytes.length;) {
      offsets.push(from);
      const end = bytes.indexOf(NEWLINE, from);
      from = end < 0 ? bytes.length : end + 1;
    }
    return offsets;
  } finally {
    await handle.close();
  }
}

function isOf(line: string, ids: ReadonlySet<number>): boolean {
  const run = parseRun(line);
  return run === null ? line.startsWith(" ") && line.trim() !== "" : ids.has(run.id);
}

async function lineAt(handle: FileHandle, offset: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = offset; ;) {
    const bytes = Buffer.allocUnsafe(STEP_BYTES);
    const { bytesRead } = await handle.read(bytes, 0, STEP_BYTES, at);
    const end = bytes.subarray(0, bytesRead).indexOf(NEWLINE);
    pieces.push(bytes.subarray(0, end < 0 ? bytesRead : end));
    if (end >= 0 || bytesRead < STEP_BYTES) return Buffer.concat(pieces);
    at += bytesRead;
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}
