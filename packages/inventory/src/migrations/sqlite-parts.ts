import type { CreateTableBuilder, Kysely } from "kysely";

type Database = Pick<Kysely<unknown>, "schema">;

export const table = (db: Database, name: string): CreateTableBuilder<string, "id"> =>
  db.schema
    .createTable(name)
    .ifNotExists()
    .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement());

export const index = (db: Database, name: string, on: string, columns: string[]): Promise<void> =>
  db.schema.createIndex(name).ifNotExists().on(on).columns(columns).execute();
