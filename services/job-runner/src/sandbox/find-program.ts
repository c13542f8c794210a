/** Where this system has a program. Not by PATH: what counts as a tool must not depend on who started us. */
import { access, constants } from "node:fs/promises";
import { join } from "node:path";

const FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];

export async function findProgram(name: string): Promise<string | null> {
  for (const folder of FOLDERS) {
    const path = join(folder, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return null;
}
