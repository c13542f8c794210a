import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { folderSize, IoError, volumeSpace } from "@sluice/safe-io";
import type { Survey } from "@sluice/stage-runtime";

/** In a batch's folder; and where uploads are before they are a batch's. */
const UPLOADS = "uploads";
const ARRIVING = [".incoming", ".journaled"] as const;

const OF_A_BATCH = "bid";
/** Folders looked into at once. */
const AT_ONCE = 16;

/**
 * Size, free bytes and uploads of the volume that holds `folder`. Rejects when they cannot be had: nothing is admitted blindly.
 * Batches by the ten thousand wait for their clean-up, and this is asked every few seconds: each is looked into once.
 */
export function volumeSurvey(folder: string): () => Promise<Survey> {
  /** A batch's folder comes with its uploads, whole or without any, and its name never comes again. */
  const measured = new Map<string, number>();

  async function ofBatches(): Promise<number> {
    const present = new Set((await readdir(folder)).filter((name) => name.startsWith(OF_A_BATCH)));
    for (const name of measured.keys()) if (!present.has(name)) measured.delete(name);
    const unseen = [...present].filter((name) => !measured.has(name));
    for (let i = 0; i < unseen.length; i += AT_ONCE) {
      const some = unseen.slice(i, i + AT_ONCE);
      const sizes = await Promise.all(some.map((name) => sizeOf(join(folder, name, UPLOADS))));
      for (const [k, name] of some.entries()) measured.set(name, sizes[k] ?? 0);
    }
    let bytes = 0;
    for (const size of measured.values()) bytes += size;
    return bytes;
  }

  return async () => {
    const space = await volumeSpace(folder);
    if (!space.ok) throw new IoError(space.error);
    const arriving = await Promise.all(ARRIVING.map((name) => sizeOf(join(folder, name))));
    const uploadedBytes = arriving.reduce((sum, bytes) => sum + bytes, await ofBatches());
    return { ...space.value, uploadedBytes };
  };
}

async function sizeOf(path: string): Promise<number> {
  const size = await folderSize(path);
  if (!size.ok) throw new IoError(size.error);
  return size.value;
}
