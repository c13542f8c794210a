import { type QueryExecutorProvider, sql } from "kysely";

type Database = QueryExecutorProvider;

export const ID = "id bigint not null auto_increment primary key";
export const TIME = "varchar(40) not null";

export async function make(db: Database, tables: readonly string[]): Promise<void> {
  const collation = await exactCollation(db);
  for (const table of tables)
    await sql.raw(`${table} engine = InnoDB default character set utf8mb4 collate ${collation}`).execute(db);
}

/** Names that differ in case, accents or a space at the end are different names, in either dialect. */
async function exactCollation(db: Database): Promise<string> {
  const { rows } = await sql<{ version: string }>`select version() as version`.execute(db);
  return /mariadb/i.test(rows[0]?.version ?? "") ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin";
}
