import { batchFolder, parseBatchFolder } from "@sluice/queue-core";
import { openAcceptedBatches } from "@sluice/working-folder";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { RecycleArea } from "./clean-up.ts";

const FOLDER = "recycled";

/** Beside the batches' folders, so that moving a folder there is one step. Ids are parsed: they are safe as names. */
export function recycleArea(workingDir: string): RecycleArea {
  const area = join(workingDir, FOLDER);
  const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  return {
    async take(batch, uuid) {
      const name = batchFolder(batch);
      // First, and before the batch leaves the queue: a record without a batch says that a restore lost it.
      const forgotten = uuid === null ? null : await (await openAcceptedBatches(workingDir)).remove(uuid);
      if (forgotten?.ok === false)
        throw new Error(`the record of ${name} cannot be removed: ${forgotten.error.message}`);
      await mkdir(area, { recursive: true });
      await moveOver(join(workingDir, name), join(area, name), remove);
    },
    remove: (batch) => remove(join(area, batchFolder(batch))),
    list: async () => (await names(area)).flatMap((name) => parseBatchFolder(name) ?? []),
  };
}

async function moveOver(from: string, to: string, remove: (folder: string) => Promise<void>): Promise<void> {
  const code = await rename(from, to).then(() => null, codeOf);
  if (code === null || code === "ENOENT") return;
  // Taken before, and somebody has written to the batch's old place since: nothing of that can count.
  if (code !== "ENOTEMPTY" && code !== "EEXIST") throw new Error(`${from} cannot be moved to ${to}: ${code}`);
  await remove(from);
}

async function names(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : String(error);
