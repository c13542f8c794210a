import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import Database from "libsql";
import { type Inventory, openInventory } from "../src/index.ts";
import { type Bench, inventoryConformance } from "./conformance.ts";
import { tempFolder } from "./temp-folder.ts";
import { aVersion } from "./version.ts";

const open = (file: string): Promise<Inventory> => openInventory({ kind: "sqlite", file });

describe("an inventory in SQLite", () => {
  let file: string;
  let inventory: Inventory;
  beforeEach(async () => {
    file = join(tempFolder(), "inventory.db");
    inventory = await open(file);
  });
  afterEach(() => inventory.close());

  const rows: Bench["rows"] = (sql) => {
    const database = new Database(file);
    try {
      return Promise.resolve(database.prepare(sql).all([]) as Record<string, unknown>[]);
    } finally {
      database.close();
    }
  };

  const change: Bench["change"] = (sql) => {
    const database = new Database(file);
    database.exec(sql);
    database.close();
    return Promise.resolve();
  };

  inventoryConformance({ inventory: () => inventory, another: () => open(file), rows, change });

  test("that another process writes to answers that it is not available", async () => {
    const other = new Database(file);
    other.exec("begin immediate");
    expect(await inventory.record(aVersion())).toMatchObject({ kind: "unavailable" });
    other.exec("rollback");
    other.close();
    expect(await inventory.record(aVersion())).toEqual({ kind: "recorded" });
  });

  test("keeps write-ahead logging and its references", async () => {
    await inventory.record(aVersion());
    expect(await rows("pragma journal_mode")).toEqual([{ journal_mode: "wal" }]);
    expect(await rows("pragma foreign_key_check")).toEqual([]);
    expect(await rows("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
  });
});

describe("the database file", () => {
  test("is made with its folder, opened again, and made by many at once", async () => {
    const file = join(tempFolder(), "a/b/inventory.db");
    const opened = await Promise.all([open(file), open(file), open(file)]);
    for (const inventory of [...opened, await open(file)]) await inventory.close();
  });

  test("that somebody is busy with is waited for", async () => {
    const file = join(tempFolder(), "inventory.db");
    const other = new Database(file);
    other.exec("begin exclusive");
    const opening = open(file); // its first try is over when this returns
    other.exec("rollback");
    other.close();
    await (await opening).close();
  });

  test("that is no database stops the service with a message", async () => {
    const folder = tempFolder();
    mkdirSync(folder, { recursive: true });
    const file = join(folder, "notes.txt");
    writeFileSync(file, "this is no database, whatever its name says\n".repeat(100));
    await expect(open(file)).rejects.toThrow(/not a database/);
  });
});
