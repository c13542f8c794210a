/**
 * Blobs that nobody names go, beside writers that may put the same bytes at this moment. A blob is moved away before it
 * is judged for good: whoever put it again before the move made it young, which is seen after it, and whoever comes after
 * the move finds nothing and writes it anew.
 */
import { randomUUID } from "node:crypto";
import { lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type ContainedFolder, TEMP_PREFIX } from "@sluice/safe-io";
import { blobName, blobOfDoomed, DOOMED, doomedName, GRACE_MS, isBlobName } from "./blob-files.ts";

export interface SweepPorts {
  readonly nowMs: number;
  /**
   * The sha256 of every blob that something names; null when not all could be asked. Runs move from the tree to the
   * archive, so the tree is to be read first.
   */
  readonly named: () => Promise<ReadonlySet<string> | null>;
  /** Where tests put another's hand: a blob is judged, and not yet moved. */
  readonly failpoint?: (sha256: string) => Promise<void>;
}

export interface Swept {
  readonly removed: number;
  /** Of those that stay. */
  readonly kept: number;
}

export async function sweepBlobs(folder: ContainedFolder, ports: SweepPorts): Promise<Swept> {
  const before = ports.nowMs - GRACE_MS;
  await bringBack(folder);
  const old: string[] = [];
  let kept = 0;
  for (const [name, path] of await filesOf(folder.root)) {
    const young = await isYounger(path, before);
    if (!young && name.startsWith(TEMP_PREFIX)) await unlink(path).catch(() => undefined);
    else if (!isBlobName(name)) continue;
    else if (young) kept += 1;
    else old.push(name);
  }
  // Named after it was listed as old: whoever named it has put it again, and so it is young by now.
  const named = await ports.named();
  let removed = 0;
  for (const sha256 of named === null ? [] : old) {
    if (named?.has(sha256) === true) continue;
    await ports.failpoint?.(sha256);
    if (await removeOld(folder, sha256, before)) removed += 1;
  }
  return { removed, kept: kept + old.length - removed };
}

async function removeOld(folder: ContainedFolder, sha256: string, before: number): Promise<boolean> {
  const doomed = `${DOOMED}/${doomedName(sha256, randomUUID())}`;
  const moved = await folder.move(blobName(sha256), folder, doomed);
  if (!moved.ok) return false;
  if (await isYounger(join(folder.root, doomed), before)) {
    await folder.move(doomed, folder, blobName(sha256));
    return false;
  }
  return (await folder.remove(doomed)).ok;
}

/** What a sweep that died had moved away is judged again. */
async function bringBack(folder: ContainedFolder): Promise<void> {
  for (const name of await readdir(join(folder.root, DOOMED))) {
    const back = await folder.move(`${DOOMED}/${name}`, folder, blobName(blobOfDoomed(name)));
    if (!back.ok && back.error.code === "ALREADY_THERE") await folder.remove(`${DOOMED}/${name}`);
  }
}

/** [name, path] of every file, blobs and unfinished ones. */
async function filesOf(root: string): Promise<readonly (readonly [string, string])[]> {
  const found: (readonly [string, string])[] = [];
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    if (entry.isFile()) found.push([entry.name, path]);
    else if (entry.isDirectory() && entry.name !== DOOMED)
      for (const name of await readdir(path)) found.push([name, join(path, name)]);
  }
  return found;
}

/** One that has gone meanwhile is nobody's to sweep. */
const isYounger = (path: string, thanMs: number): Promise<boolean> =>
  lstat(path).then(
    ({ mtimeMs }) => mtimeMs > thanMs,
    () => true,
  );
