/** What an OCFL storage root holds, by the names that depositors gave: every version, with its bytes. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface StoredVersion {
  readonly object: string;
  readonly version: string;
  readonly name: string;
  readonly bytes: Buffer;
}

interface OcflInventory {
  readonly id: string;
  readonly manifest: Readonly<Record<string, readonly string[]>>;
  readonly versions: Readonly<Record<string, { readonly state: Readonly<Record<string, readonly string[]>> }>>;
}

export async function storedVersions(root: string): Promise<readonly StoredVersion[]> {
  const found: StoredVersion[] = [];
  async function visit(folder: string): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true });
    if (entries.some(({ name }) => name === "0=ocfl_object_1.1")) {
      found.push(...(await versionsIn(folder)));
      return;
    }
    for (const entry of entries) if (entry.isDirectory()) await visit(join(folder, entry.name));
  }
  await visit(root);
  return found;
}

async function versionsIn(folder: string): Promise<readonly StoredVersion[]> {
  const { id, manifest, versions } = JSON.parse(
    await readFile(join(folder, "inventory.json"), "utf8"),
  ) as OcflInventory;
  const found: StoredVersion[] = [];
  for (const [version, { state }] of Object.entries(versions))
    for (const [digest, paths] of Object.entries(state))
      for (const path of paths.filter((each) => each.startsWith("producer/")))
        found.push({
          object: id,
          version,
          name: path.slice("producer/".length),
          bytes: await readFile(join(folder, manifest[digest]?.[0] ?? "")),
        });
  return found;
}
