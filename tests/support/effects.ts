/** What the fleet did to the world outside ZooKeeper, counted. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import Database from "libsql";

export interface StoredObject {
  readonly id: string;
  readonly head: string;
}

/** Every object of an OCFL root, by its own inventory. */
export async function storedObjects(root: string): Promise<readonly StoredObject[]> {
  const found: StoredObject[] = [];
  async function visit(folder: string): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true });
    if (entries.some(({ name }) => name === "0=ocfl_object_1.1")) {
      found.push(JSON.parse(await readFile(join(folder, "inventory.json"), "utf8")) as StoredObject);
      return;
    }
    for (const entry of entries) if (entry.isDirectory()) await visit(join(folder, entry.name));
  }
  await visit(root);
  return found;
}

export interface Inventory {
  readonly objects: number;
  readonly versions: number;
  readonly ingests: number;
}

export function inventoryCounts(file: string): Inventory {
  const db = new Database(file, { readonly: true });
  try {
    const count = (table: string): number => {
      const row = db.prepare(`select count(*) as n from ${table}`).get() as { readonly n: number };
      return row.n;
    };
    return { objects: count("inv_objects"), versions: count("inv_versions"), ingests: count("inv_ingests") };
  } finally {
    db.close();
  }
}

export const mails = async (dataDir: string): Promise<readonly string[]> =>
  (await readdir(join(dataDir, "outbox"))).sort();
