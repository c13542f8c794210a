/** A job's files in the working folder: names, sizes, times; links are not followed. */
import type { JobFile } from "@sluice/wire";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

const FILES_MAX = 1_000;

export interface JobFiles {
  readonly items: JobFile[];
  readonly truncated: boolean;
}

export async function listJobFiles(folder: string, most = FILES_MAX): Promise<JobFiles> {
  const items: JobFile[] = [];
  const whole = await walk(folder, "", items, most);
  items.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { items, truncated: !whole };
}

/** False = there were more. Files come and go while we look: what is gone is left out. */
async function walk(root: string, prefix: string, items: JobFile[], most: number): Promise<boolean> {
  const directory = await opendir(join(root, prefix)).catch(() => null);
  if (directory === null) return true;
  for await (const entry of directory) {
    const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!(await walk(root, path, items, most))) return false;
    } else if (entry.isFile()) {
      if (items.length >= most) return false;
      const stat = await lstat(join(root, path)).catch(() => null);
      if (stat !== null) items.push({ path, bytes: stat.size, modified: stat.mtime.toISOString() });
    }
  }
  return true;
}
