import { type Kysely, sql } from "kysely";

/** May be repeated: neither SQLite nor MySQL knows `add column if not exists`. */
export async function addColumn(db: Kysely<unknown>, table: string, column: string, type: string): Promise<void> {
  const tables = await db.introspection.getTables();
  const columns = tables.find(({ name }) => name === table)?.columns ?? [];
  if (columns.some(({ name }) => name === column)) return;
  await db.schema.alterTable(table).addColumn(column, sql.raw(type)).execute();
}

/** Old rows, and those of recorders of the version before, have none of it. */
export async function addNodeColumns(db: Kysely<unknown>, time: string, url: string): Promise<void> {
  await addColumn(db, "inv_nodes", "base_url", url);
  await addColumn(db, "inv_nodes", "created", time);
  await addColumn(db, "inv_nodes_inv_objects", "replicated", time);
}
