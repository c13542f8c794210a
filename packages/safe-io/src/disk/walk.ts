import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

import { IoError } from "../outcome.ts";
import { TEMP_PREFIX } from "./names.ts";

export interface FileEntry {
  /** Relative, with `/`. */
  readonly name: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** Every finished file below a folder. Anything but files and folders is refused. */
export async function listFiles(root: string, prefix = ""): Promise<FileEntry[]> {
  const entries = await readdir(join(root, prefix), { withFileTypes: true });
  const found: FileEntry[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    if (entry.name.startsWith(TEMP_PREFIX)) continue;
    if (entry.isDirectory()) for (const each of await listFiles(root, name)) found.push(each);
    else if (entry.isFile()) {
      const stat = await lstat(join(root, name));
      found.push({ name, bytes: stat.size, modifiedMs: stat.mtimeMs });
    } else throw new IoError({ code: "LINK_REFUSED", message: `${name} is neither file nor folder`, retryable: false });
  }
  return found;
}
