/** What the fleet did to the world outside ZooKeeper, counted. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import Database from "libsql";
import { createConnection, type RowDataPacket } from "mysql2/promise";

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

const TABLES = { objects: "inv_objects", versions: "inv_versions", ingests: "inv_ingests" } as const;
const COUNTS = `select ${Object.entries(TABLES)
  .map(([name, table]) => `(select count(*) from ${table}) as ${name}`)
  .join(", ")}`;

/** Rows of either driver carry more than their columns. */
const countsOf = ({ objects, versions, ingests }: Inventory): Inventory => ({ objects, versions, ingests });

export function inventoryCounts(file: string): Inventory {
  const db = new Database(file, { readonly: true });
  try {
    return countsOf(db.prepare(COUNTS).get() as Inventory);
  } finally {
    db.close();
  }
}

export async function mysqlInventoryCounts(url: string): Promise<Inventory> {
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.query<(RowDataPacket & Inventory)[]>(COUNTS);
    return countsOf(rows[0]!);
  } finally {
    await connection.end();
  }
}

/** Without the epoch in which their batch was made. */
export const mails = async (dataDir: string): Promise<readonly string[]> =>
  (await readdir(join(dataDir, "outbox"))).map(withoutEpoch).sort();

const withoutEpoch = (name: string): string => name.replace(/^(bid\d{10})-\d+/, "$1");

/** `name`: as `mails` tells it. */
export async function readMail(dataDir: string, name: string): Promise<string> {
  const outbox = join(dataDir, "outbox");
  const file = (await readdir(outbox)).find((each) => withoutEpoch(each) === name);
  return await readFile(join(outbox, file ?? name), "utf8");
}
