/** The folders of batches as they stand on the volume, and which of them a journal still needs. */
import { batchFolder, type BatchPlace, parseBatchFolder } from "@sluice/queue-core";
import { ContainedFolder, IoError, type Outcome } from "@sluice/safe-io";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { namesIn } from "./names-in.ts";

export interface BatchFolder {
  readonly name: string;
  /** Its number, whatever else is in the name. */
  readonly batch: string;
  readonly path: string;
  /** When it was last renamed or an entry of it was last made or removed: by the clock of whoever has the disk. */
  readonly changedMs: number;
  /** A submission in a journal has its files here: its batch is still to be made. */
  readonly journaled: boolean;
}

export interface BatchFolders {
  /** null: the working folder cannot be read. */
  readonly list: () => Promise<readonly BatchFolder[] | null>;
  readonly remove: (folder: BatchFolder) => Promise<Outcome<void>>;
  /** Of one journal: nobody removes this folder while its batch is not there. On disk when it answers. */
  readonly need: (journal: string, folder: string) => Promise<Outcome<void>>;
  readonly needNoMore: (journal: string, folder: string) => Promise<void>;
  /** The folders that a journal is known to need. */
  readonly neededBy: (journal: string) => Promise<readonly string[]>;
}

/** Beside the batches' folders: several intakes share them, and each has a journal that the others cannot read. */
const NUMBERED = ".numbered";

export async function openBatchFolders(workingDir: string): Promise<BatchFolders> {
  const opened = await ContainedFolder.open(workingDir);
  if (!opened.ok) throw new IoError(opened.error);
  const root = opened.value;
  const mark = (journal: string, folder: string): string => `${NUMBERED}/${journal}/${folder}`;
  return {
    list: () => listBatchFolders(root.root),
    remove: ({ name }) => root.remove(name),
    async need(journal, folder) {
      const made = await root.sub(mark(journal, folder));
      return made.ok ? { ok: true, value: undefined } : made;
    },
    async needNoMore(journal, folder) {
      await root.remove(mark(journal, folder));
    },
    neededBy: (journal) => namesIn(join(root.root, NUMBERED, journal)),
  };
}

/** Something came with the batch's submission, and is there. */
export const hasUploads = async (workingDir: string, place: BatchPlace): Promise<boolean> =>
  (await readdir(join(workingDir, batchFolder(place), "uploads")).catch(() => [])).length > 0;

/** For whoever only looks: nothing is made, and a working folder that is not there is null. */
export async function listBatchFolders(workingDir: string): Promise<readonly BatchFolder[] | null> {
  const names = await readdir(workingDir).catch(() => null);
  if (names === null) return null;
  const found: Omit<BatchFolder, "journaled">[] = [];
  for (const name of names) {
    const batch = parseBatchFolder(name)?.batchId;
    if (batch === undefined) continue;
    const path = join(workingDir, name);
    const stat = await lstat(path).catch(() => null);
    if (stat?.isDirectory() === true)
      found.push({ name, batch, path, changedMs: Math.max(stat.mtimeMs, stat.ctimeMs) });
  }
  // After the folders: whoever needs one says so before it is there.
  const needed = await neededFolders(workingDir);
  return found.map((folder) => ({ ...folder, journaled: needed.has(folder.name) }));
}

async function neededFolders(workingDir: string): Promise<ReadonlySet<string>> {
  const needed = new Set<string>();
  for (const journal of await namesIn(join(workingDir, NUMBERED)))
    for (const folder of await namesIn(join(workingDir, NUMBERED, journal))) needed.add(folder);
  return needed;
}
