import { readdir } from "node:fs/promises";

/** None of a folder that is not there; a disk that does not say is no answer, and rejects. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
