/**
 * The tables of the archived audit, in both dialects. Whoever first needs them makes them: with a migration, services of the
 * version before could not start any more.
 */
import type { Kysely, QueryExecutorProvider } from "kysely";
import { ID, make } from "./migrations/mysql-parts.ts";
import { index, table } from "./migrations/sqlite-parts.ts";

export type MakeTables = (db: Pick<Kysely<unknown>, "schema"> & QueryExecutorProvider) => Promise<void>;

export async function makeSqliteAudit(db: Parameters<MakeTables>[0]): Promise<void> {
  await table(db, "archived_audit")
    .addColumn("number", "integer", (column) => column.notNull())
    .addColumn("hash", "char(64)", (column) => column.notNull().unique())
    .addColumn("record", "text", (column) => column.notNull())
    .addColumn("left_at", "varchar(40)")
    .execute();
  await index(db, "archived_audit_number", "archived_audit", ["number"]);
  await table(db, "archived_audit_anchors")
    .addColumn("number", "integer", (column) => column.notNull())
    .addColumn("hash", "char(64)", (column) => column.notNull())
    .addColumn("anchor", "text", (column) => column.notNull())
    .addUniqueConstraint("archived_audit_anchors_once", ["number", "hash"])
    .execute();
}

const MYSQL: readonly string[] = [
  `create table if not exists archived_audit (
    ${ID}, number bigint not null, hash char(64) not null, record longtext not null, left_at varchar(40),
    unique key archived_audit_hash (hash), key archived_audit_number (number))`,
  `create table if not exists archived_audit_anchors (
    ${ID}, number bigint not null, hash char(64) not null, anchor longtext not null,
    unique key archived_audit_anchors_once (number, hash))`,
];

export const makeMySqlAudit: MakeTables = (db) => make(db, MYSQL);
