import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { profileNameOf } from "./profile-name.ts";

/** A profile's file as a look at the folder found it. */
export interface ProfileFile {
  readonly name: string;
  readonly fileName: string;
  readonly path: string;
  readonly size: number;
  /** Changes whenever the content may have; links are followed, since a ConfigMap is a folder of links. */
  readonly version: string;
}

export interface FolderListing {
  readonly files: readonly ProfileFile[];
  /** Files that are passed over because another one has the same profile. */
  readonly duplicates: readonly ProfileFile[];
}

/** Real ones have some kilobytes: anything much larger is no profile, and is not read. */
export const PROFILE_MAX_BYTES = 256 * 1024;

export async function listProfileFiles(folder: string): Promise<FolderListing> {
  const names = (await readdir(folder)).sort();
  const found = await Promise.all(names.map((fileName) => lookAt(folder, fileName)));
  const files = new Map<string, ProfileFile>();
  const duplicates: ProfileFile[] = [];
  for (const file of found) {
    if (file === null) continue;
    if (files.has(file.name)) duplicates.push(file);
    else files.set(file.name, file);
  }
  return { files: [...files.values()], duplicates };
}

async function lookAt(folder: string, fileName: string): Promise<ProfileFile | null> {
  const name = profileNameOf(fileName);
  if (name === null) return null;
  const path = join(folder, fileName);
  try {
    const { mtimeNs, ino, size, dev } = await stat(path, { bigint: true });
    return { name, fileName, path, size: Number(size), version: [fileName, dev, ino, size, mtimeNs].join(":") };
  } catch {
    return null; // gone since it was listed, or a link to nowhere
  }
}

export type ReadText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

export async function readProfileFile(file: ProfileFile): Promise<ReadText> {
  if (file.size > PROFILE_MAX_BYTES) return { ok: false, problem: `has more than ${PROFILE_MAX_BYTES} bytes` };
  try {
    return { ok: true, text: await readFile(file.path, "utf8") };
  } catch (error) {
    return { ok: false, problem: `cannot be read (${error instanceof Error ? error.message : String(error)})` };
  }
}
