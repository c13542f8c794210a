import { lstat, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";

import type { Outcome } from "../outcome.ts";
import { attempt } from "./fault.ts";

export interface VolumeSpace {
  /** Used, or free for everybody. */
  readonly totalBytes: number;
  /** What a process without privileges can still write. */
  readonly freeBytes: number;
}

/** The volume that a path is on. */
export const volumeSpace = (path: string): Promise<Outcome<VolumeSpace>> =>
  attempt(path, async () => {
    return roomOf(await statfs(path));
  });

/**
 * As df reckons it. Blocks that the file system keeps back for root or a quota are neither used nor free: counted as
 * used, they would stop jobs on a volume that is almost empty.
 */
export const roomOf = ({ bsize, blocks, bfree, bavail }: Blocks): VolumeSpace => ({
  totalBytes: bsize * (blocks - bfree + bavail),
  freeBytes: bsize * bavail,
});

type Blocks = Readonly<Record<"bsize" | "blocks" | "bfree" | "bavail", number>>;

/** Bytes of all files below a path, unfinished ones too, links not followed; 0 if there is nothing. */
export async function folderSize(path: string): Promise<Outcome<number>> {
  const size = await attempt(path, () => sizeBelow(path));
  return !size.ok && size.error.code === "NOT_FOUND" ? { ok: true, value: 0 } : size;
}

async function sizeBelow(path: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    bytes += entry.isDirectory() ? await sizeBelow(child) : await sizeOf(child);
  }
  return bytes;
}

/** Files come and go while we count. */
const sizeOf = (path: string): Promise<number> =>
  lstat(path).then(
    (stat) => stat.size,
    () => 0,
  );
