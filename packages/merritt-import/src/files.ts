/** The old fleet's folders, and ours. */
import { lstatSync } from "node:fs";
import { constants, copyFile, lstat, mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FileToBring, OldFiles } from "./payload.ts";

/** `folder` is the old ingest service's `queue`. Links are not followed: what they lead to is nobody's payload. */
export const oldFilesIn = (folder: string): OldFiles => ({
  has: (relativePath) => lstatSync(join(folder, relativePath), { throwIfNoEntry: false })?.isFile() === true,
});

/** Under its name only when it is whole and on disk, so that a second run can tell. */
export const bringFileInto =
  (oldFolder: string, workingDir: string) =>
  async ({ from, batch, name }: FileToBring): Promise<void> => {
    const [source, goal] = [join(oldFolder, from), join(workingDir, batch, "uploads", name)];
    const there = await lstat(goal).catch(() => null);
    if (there?.isFile() === true && there.size === (await lstat(source)).size) return;
    await mkdir(dirname(goal), { recursive: true });
    const partial = `${goal}.partial`;
    await copyFile(source, partial, constants.COPYFILE_FICLONE);
    const handle = await open(partial, "r+");
    await handle.sync();
    await handle.close();
    await rename(partial, goal);
  };
