/** INVENTORY_URL=mysql://…: the inventory in MySQL or MariaDB, for production. */
import { CompiledQuery, Kysely, MysqlDialect } from "kysely";
import { createPool } from "mysql2";
import { makeMySqlAudit } from "./audit-tables.ts";
import type { Inventory } from "./inventory.ts";
import type { MySqlUrl } from "./inventory-url.ts";
import { migrate } from "./migrate.ts";
import { MYSQL_MIGRATIONS } from "./migrations/mysql.ts";
import { isMisconfigured, sortMySqlError } from "./mysql-errors.ts";
import { impatient } from "./mysql-pool.ts";
import { type InventoryOptions, sqlInventory } from "./sql-inventory.ts";
import type { InventoryTables } from "./tables.ts";

export interface MySqlOptions extends InventoryOptions {
  readonly connections?: number;
  /** How long a server may be silent in the middle of a statement. */
  readonly silenceMs?: number;
}

const CONNECTIONS = 10;
const CONNECT_MS = 10_000;
const SILENCE_MS = 60_000;
/** With 50 ms first and twice as long each time: one and a half seconds. */
const TRIES = 6;

/** Strict: a value that does not fit is refused, never cut. READ COMMITTED: no locks on gaps, so fewer deadlocks. */
const SESSION = [
  "set session sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_DATE,NO_ENGINE_SUBSTITUTION'",
  "set session transaction isolation level read committed",
];

export async function openMySqlInventory(url: MySqlUrl, options: MySqlOptions = {}): Promise<Inventory> {
  const db = connect(url, options);
  const ready = onceDone(() => migrate(db, MYSQL_MIGRATIONS));
  const problem = await ready().then(() => null, describe);
  if (problem?.isFinal === true) {
    await db.destroy();
    throw new Error(`the inventory database cannot be used: ${problem.message}`);
  }
  return sqlInventory({ db, sortError: sortMySqlError, ready, makeAuditTables: makeMySqlAudit, tries: TRIES }, options);
}

function connect(url: MySqlUrl, { connections = CONNECTIONS, silenceMs = SILENCE_MS }: MySqlOptions) {
  const { host, port, user, database } = url;
  const pool = createPool({
    host,
    port,
    user,
    database,
    password: url.password(),
    charset: "utf8mb4",
    connectionLimit: connections,
    connectTimeout: CONNECT_MS,
    enableKeepAlive: true,
    ...(url.tls ? { ssl: {} } : {}),
  });
  const dialect = new MysqlDialect({
    pool: impatient(pool, silenceMs),
    onCreateConnection: async (connection) => {
      for (const statement of SESSION) await connection.executeQuery(CompiledQuery.raw(statement));
    },
  });
  return new Kysely<InventoryTables>({ dialect });
}

/** A database that is away when a service starts is prepared when it is back. */
function onceDone(prepare: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | null = null;
  return () => {
    underWay ??= prepare().catch((error: unknown) => {
      underWay = null;
      throw error;
    });
    return underWay;
  };
}

/** In words of ours: errors of the client carry the statement and the connection's settings. */
function describe(error: unknown): { readonly message: string; readonly isFinal: boolean } {
  const sorted = sortMySqlError(error);
  if (sorted === null) return { message: error instanceof Error ? error.message : String(error), isFinal: true };
  return { message: sorted.fault.message, isFinal: sorted.fault.kind === "refused" || isMisconfigured(error) };
}
