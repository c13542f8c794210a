/** Debian packages as `dpkg --status` describes them, one file each, the way images without dpkg keep them. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface OsPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

export async function osPackagesIn(folder: string): Promise<readonly OsPackage[]> {
  const names = (await readdir(folder)).sort();
  return await Promise.all(names.map(async (name) => parseStatus(await readFile(join(folder, name), "utf8"))));
}

export function parseStatus(text: string): OsPackage {
  const field = (name: string): string => {
    const value = new RegExp(`^${name}: (.+)$`, "m").exec(text)?.[1];
    if (value === undefined) throw new Error(`no ${name} in the status of a package:\n${text}`);
    return value.trim();
  };
  return { name: field("Package"), version: field("Version"), architecture: field("Architecture") };
}
