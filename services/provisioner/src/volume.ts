import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { folderSize, IoError, volumeSpace } from "@sluice/safe-io";
import type { Survey } from "@sluice/stage-runtime";

/** In a batch's folder; and where uploads are before they are a batch's. */
const UPLOADS = "uploads";
const ARRIVING = [".incoming", ".journaled"] as const;

/** Size, free bytes and uploads of the volume that holds `folder`. Rejects when they cannot be had: nothing is admitted blindly. */
export function volumeSurvey(folder: string): () => Promise<Survey> {
  const measured = new Map<string, number>();

  /** Uploads of a batch do not change: each is measured once. */
  async function ofBatches(): Promise<number> {
    const names = (await readdir(folder)).filter((name) => !name.startsWith("."));
    const present = new Map<string, string>();
    for (const name of names) {
      const madeMs = await stat(join(folder, name, UPLOADS)).then(
        ({ mtimeMs }) => mtimeMs,
        () => null,
      );
      if (madeMs !== null) present.set(`${name} ${madeMs}`, join(folder, name, UPLOADS));
    }
    for (const key of measured.keys()) if (!present.has(key)) measured.delete(key);
    for (const [key, path] of present) if (!measured.has(key)) measured.set(key, await sizeOf(path));
    return [...measured.values()].reduce((sum, bytes) => sum + bytes, 0);
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
