/** The npm packages below a deployed application, as pnpm lays them out: node_modules/.pnpm/KEY/node_modules/NAME. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const Manifest = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string().optional(),
  license: z.string().optional(),
});
export type NpmPackage = z.infer<typeof Manifest>;

/** Each package once per version, sorted. */
export async function npmPackagesIn(app: string): Promise<readonly NpmPackage[]> {
  const store = join(app, "node_modules", ".pnpm");
  const entries = await readdir(store, { withFileTypes: true });
  const keys = entries.filter((entry) => entry.isDirectory() && entry.name !== "node_modules").map(({ name }) => name);
  const found = (await Promise.all(keys.map((key) => ownPackagesOf(join(store, key, "node_modules"))))).flat();
  const byId = new Map(found.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Real folders: what a package depends on stands beside it as links. */
async function ownPackagesOf(folder: string): Promise<readonly NpmPackage[]> {
  const found: NpmPackage[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    if (entry.name.startsWith("@")) for (const each of await ownPackagesOf(path)) found.push(each);
    else found.push(await readManifest(path));
  }
  return found;
}

export const readManifest = async (folder: string): Promise<NpmPackage> =>
  Manifest.parse(JSON.parse(await readFile(join(folder, "package.json"), "utf8")));
