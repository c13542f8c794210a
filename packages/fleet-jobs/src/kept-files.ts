/** A folder of files that are made one after the other, of which the newest are kept. A name appears when its file is whole. */
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

export interface KeptFiles {
  readonly dir: string;
  /** What every name begins and ends with; a time stands between them, so that names sort by age. */
  readonly prefix: string;
  readonly suffix: string;
}

const UNFINISHED = ".unfinished-";

/** 2026-11-16T02-00-00-000Z */
export const stampOf = (ms: number): string => new Date(ms).toISOString().replaceAll(/[:.]/g, "-");

export async function keepFile(
  { dir, prefix, suffix }: KeptFiles,
  atMs: number,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<{ readonly name: string; readonly bytes: number }> {
  await mkdir(dir, { recursive: true });
  const name = `${prefix}${stampOf(atMs)}${suffix}`;
  const draft = join(dir, `${UNFINISHED}${name}`);
  const file = await open(draft, "w", 0o600);
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      await file.writeFile(piece);
      bytes += piece.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(dir, name));
  await syncFolder(dir);
  return { name, bytes };
}

async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** All but the newest go, and what was never finished by somebody who is gone. How many went. */
export async function keepNewest({ dir, prefix, suffix }: KeptFiles, copies: number, nowMs: number): Promise<number> {
  const names = await readdir(dir);
  const ours = names.filter((name) => name.startsWith(prefix) && name.endsWith(suffix)).sort();
  const now = `${UNFINISHED}${prefix}${stampOf(nowMs)}${suffix}`;
  const dropped = names.filter((name) => name.startsWith(`${UNFINISHED}${prefix}`) && name < now);
  const going = [...ours.slice(0, Math.max(0, ours.length - copies)), ...dropped];
  for (const name of going) await rm(join(dir, name), { force: true });
  return going.length;
}
