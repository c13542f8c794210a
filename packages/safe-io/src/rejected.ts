import type { ContainedFolder, UnfinishedFile } from "./disk/contained-folder.ts";
import type { Outcome } from "./outcome.ts";

/** A place for what was not what it should be. */
export interface Aside {
  readonly folder: ContainedFolder;
  readonly name: string;
}

/** Gives the file its name if its content came right; keeps content with a wrong digest aside, drops everything else. */
export async function endFile<T>(file: UnfinishedFile, content: Outcome<T>, aside?: Aside): Promise<Outcome<T>> {
  if (content.ok) {
    const finished = await file.finish();
    return finished.ok ? content : finished;
  }
  // Evidence is worth trying for, but the digest is what the caller must hear of.
  if (content.error.code === "DIGEST_MISMATCH" && aside !== undefined) await file.setAside(aside.folder, aside.name);
  else await file.abandon();
  return content;
}
