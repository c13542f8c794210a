/** INVENTORY_URL=sqlite:FILE: the inventory in one file, for a laptop or one machine. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";
import Database from "libsql";
import { makeSqliteAudit } from "./audit-tables.ts";
import type { Inventory } from "./inventory.ts";
import type { Fault } from "./database.ts";
import { migrate } from "./migrate.ts";
import { SQLITE_MIGRATIONS } from "./migrations/sqlite.ts";
import { type InventoryOptions, sqlInventory } from "./sql-inventory.ts";
import type { InventoryTables } from "./tables.ts";

/** How long a writer waits for another one. The whole process waits with it, so it must stay far below a session. */
const BUSY_TIMEOUT_MS = 1_000;
const OPEN_TRIES = 30;
const OPEN_PAUSE_MS = 100;

export async function openSqliteInventory(file: string, options: InventoryOptions = {}): Promise<Inventory> {
  mkdirSync(dirname(file), { recursive: true });
  await patiently(() => prepareFile(file));
  const database = lockingAtBegin(await patiently(() => Promise.resolve(openDatabase(file))));
  return sqlInventory(
    {
      db: new Kysely({ dialect: new SqliteDialect({ database }) }),
      sortError: sortSqliteError,
      ready: () => Promise.resolve(),
      makeAuditTables: makeSqliteAudit,
      tries: 1, // waiting for another writer stops the whole process: it is done by those who wait for us
    },
    options,
  );
}

/** Over a connection of its own: a statement of it that met another starter must not haunt the transactions to come. */
async function prepareFile(file: string): Promise<void> {
  const db = new Kysely<InventoryTables>({ dialect: new SqliteDialect({ database: openDatabase(file) }) });
  await migrate(db, SQLITE_MIGRATIONS).finally(() => db.destroy());
}

/** Services that start together: switching to write-ahead logging does not wait for others, so we do. */
async function patiently<T>(open: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await open();
    } catch (error) {
      if (tries === OPEN_TRIES || sortSqliteError(error)?.fault.kind !== "unavailable") throw error;
    }
    await pause(OPEN_PAUSE_MS);
  }
}

function openDatabase(file: string): Database.Database {
  const database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL"); // what was told to the depositor must survive a power cut
    database.pragma("foreign_keys = ON");
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/**
 * A transaction takes the write lock when it begins, and not through a prepared statement: libsql leaves one that met a
 * locked database in progress, and until it is garbage no transaction of the connection can be committed.
 */
const lockingAtBegin = (database: Database.Database): SqliteDatabase => ({
  close: () => void database.close(),
  prepare: (sql) => (sql === "begin" ? begin(database) : database.prepare(sql)),
});

const begin = (database: Database.Database): SqliteStatement => ({
  reader: false,
  run: () => {
    database.exec("begin immediate");
    return { changes: 0, lastInsertRowid: 0 };
  },
  all: () => [],
  iterate: () => [][Symbol.iterator](),
});

/** Passing: another writer, or a disk that may be mended. */
const PASSING = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|PROTOCOL|INTERRUPT|NOMEM)/;

function sortSqliteError(error: unknown): Fault | null {
  if (typeof error !== "object" || error === null || !("code" in error) || typeof error.code !== "string") return null;
  if (!error.code.startsWith("SQLITE_")) return null;
  const message = `${error.code}: ${error instanceof Error ? error.message : ""}`;
  return { fault: { kind: PASSING.test(error.code) ? "unavailable" : "refused", message }, again: false };
}
