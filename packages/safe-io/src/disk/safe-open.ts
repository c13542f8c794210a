import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open } from "node:fs/promises";
import { join } from "node:path";

import { errorCode } from "../error-code.ts";
import { IoError } from "../outcome.ts";

const FILE_MODE = 0o640;
const FOLDER_MODE = 0o750;

/** Goes down from `root` one component at a time and refuses a link in any of them. */
export async function walkTo(root: string, components: readonly string[], create: boolean): Promise<string> {
  let path = root;
  for (const component of components) {
    const parent = path;
    path = join(path, component);
    if (create && (await makeFolder(path))) await syncFolder(parent);
    const stat = await lstat(path);
    if (stat.isSymbolicLink()) throw linkRefused(path);
  }
  return path;
}

/** True if it was not there. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
    return true;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    return false;
  }
}

/** Never follows a link at the end of the path; the folders before it were walked. */
export const openForReading = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDONLY | constants.O_NOFOLLOW);

/** The file must be new: an unfinished file of somebody else is never written into. */
export const createForWriting = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, FILE_MODE);

/** A rename survives a power cut only when its folder is written too. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const linkRefused = (path: string): IoError =>
  new IoError({ code: "LINK_REFUSED", message: `${path} is a link`, retryable: false });
