/**
 * Uploads of submissions in the journal. They keep a folder of their own, which the sweep of abandoned uploads does not
 * touch, until there is a number for their batch. Every step may be done again: a process that dies in the middle finds
 * the folder in one of two places.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { batchFolder, type BatchPlace } from "@sluice/queue-core";
import { ContainedFolder, IoError, type Outcome } from "@sluice/safe-io";
import { openBatchFolders } from "@sluice/working-folder";
import { failure, success } from "./fault.ts";
import { INCOMING } from "./incoming.ts";

const JOURNALED = ".journaled";
const REFUSED = ".refused";

export interface KeptUploads {
  /** Takes an incoming folder out of the sweep's reach; on disk when it answers. */
  keep(incoming: string): Promise<Outcome<void>>;
  /**
   * The folder is the batch's from now on. NOT_FOUND: it is in neither place. ALREADY_THERE: another batch has a folder of
   * that name, which stays as it is.
   */
  becomeBatch(folder: string, batch: BatchPlace): Promise<Outcome<void>>;
  /** The number was of no use: the folder waits for another one. */
  putBack(folder: string, batch: BatchPlace): Promise<Outcome<void>>;
  /** Out of everybody's way, for people to look at; nothing there is fine too. Answers where. */
  setAside(from: { readonly folder: string } | { readonly batch: BatchPlace }, name: string): Promise<Outcome<string>>;
  isKept(folder: string): Promise<Outcome<boolean>>;
  /** They are in this batch's folder. */
  isAt(batch: BatchPlace): Promise<Outcome<boolean>>;
  discard(folder: string): Promise<void>;
  /** A record of the journal has, or is about to have, its files in this batch's folder; on disk when it answers. */
  need(batch: BatchPlace): Promise<Outcome<void>>;
  needNoMore(batch: BatchPlace): Promise<void>;
  /** Lets go of folders that no record names any more. */
  needOnly(named: ReadonlySet<string>): Promise<void>;
  /** Gives folders that no record names back to the sweep: their submission was never answered. Answers how many. */
  giveBackAllBut(folders: ReadonlySet<string>): Promise<number>;
}

/** `journal` names the journal whose uploads these are: several intakes share the working folder. */
export async function openKeptUploads(workingDir: string, journal: string): Promise<KeptUploads> {
  const opened = await ContainedFolder.open(workingDir);
  if (!opened.ok) throw new IoError(opened.error);
  const root = opened.value;
  const folders = await openBatchFolders(workingDir);
  const place = (folder: string): string => `${JOURNALED}/${journal}/${folder}`;
  /** A disk that does not say is not one that says no. */
  const isThere = async (name: string): Promise<Outcome<boolean>> => {
    const found = await root.stat(name);
    return found.ok || found.error.code === "NOT_FOUND" ? success(found.ok) : found;
  };
  return {
    keep: (incoming) => root.move(`${INCOMING}/${incoming}`, root, place(incoming)),
    isKept: (folder) => isThere(place(folder)),
    isAt: (batch) => isThere(batchFolder(batch)),
    async becomeBatch(folder, batch) {
      const kept = await isThere(place(folder));
      if (!kept.ok) return kept;
      if (kept.value) return root.move(place(folder), root, batchFolder(batch));
      const moved = await isThere(batchFolder(batch));
      if (!moved.ok) return moved;
      if (moved.value) return success(undefined);
      return failure({ code: "NOT_FOUND", message: `${place(folder)} is not there`, retryable: false });
    },
    putBack: (folder, batch) => root.move(batchFolder(batch), root, place(folder)),
    async setAside(from, name) {
      const [source, target] = ["batch" in from ? batchFolder(from.batch) : place(from.folder), `${REFUSED}/${name}`];
      const there = await isThere(source);
      if (!there.ok) return there;
      if (!there.value) return success(target);
      const moved = await root.move(source, root, target);
      return moved.ok ? success(target) : moved;
    },
    async discard(folder) {
      await root.remove(place(folder));
    },
    need: (batch) => folders.need(journal, batchFolder(batch)),
    needNoMore: (batch) => folders.needNoMore(journal, batchFolder(batch)),
    async needOnly(named) {
      const needed = await folders.neededBy(journal);
      for (const folder of needed.filter((each) => !named.has(each))) await folders.needNoMore(journal, folder);
    },
    async giveBackAllBut(folders) {
      const found = await readdir(join(root.root, JOURNALED, journal)).catch(() => []);
      const unnamed = found.filter((folder) => !folders.has(folder));
      for (const folder of unnamed) await root.move(place(folder), root, `${INCOMING}/${folder}`);
      return unnamed.length;
    },
  };
}
