/** The tables in SQLite. Every statement may be repeated: a half-made schema is not rolled back. */
import { type CreateTableBuilder, type Kysely, sql } from "kysely";
import type { Migrations } from "../migrate.ts";
import { upAccessAndAudits } from "./sqlite-access-and-audits.ts";
import { index, table } from "./sqlite-parts.ts";

type Database = Kysely<unknown>;

async function upNames(db: Database): Promise<void> {
  await table(db, "inv_owners")
    .addColumn("ark", "varchar(255)", (column) => column.notNull().unique())
    .addColumn("name", "varchar(255)")
    .execute();
  await table(db, "inv_collections")
    .addColumn("ark", "varchar(255)", (column) => column.notNull().unique())
    .addColumn("name", "varchar(255)")
    .addColumn("mnemonic", "varchar(255)")
    .execute();
  await table(db, "inv_nodes")
    .addColumn("number", "integer", (column) => column.notNull().unique())
    .addColumn("logical_volume", "varchar(255)")
    .execute();
  await table(db, "inv_localids")
    .addColumn("inv_object_ark", "varchar(255)", (column) => column.notNull())
    .addColumn("inv_owner_ark", "varchar(255)", (column) => column.notNull())
    .addColumn("local_id", "varchar(255)", (column) => column.notNull())
    .addColumn("created", "varchar(40)", (column) => column.notNull())
    .addUniqueConstraint("inv_localids_owner_local_id", ["inv_owner_ark", "local_id"])
    .execute();
  await index(db, "inv_localids_object_ark", "inv_localids", ["inv_object_ark"]);
}

async function upObjects(db: Database): Promise<void> {
  await table(db, "inv_objects")
    .addColumn("inv_owner_id", "integer", (column) => column.notNull().references("inv_owners.id"))
    .addColumn("ark", "varchar(255)", (column) => column.notNull().unique())
    .addColumn("md5_3", "char(3)", (column) => column.notNull())
    .addColumn("object_type", "varchar(32)", (column) => column.notNull())
    .addColumn("role", "varchar(32)", (column) => column.notNull())
    .addColumn("aggregate_role", "varchar(40)")
    .addColumn("version_number", "integer", (column) => column.notNull())
    .addColumn("erc_who", "text")
    .addColumn("erc_what", "text")
    .addColumn("erc_when", "text")
    .addColumn("erc_where", "text")
    .addColumn("created", "varchar(40)", (column) => column.notNull())
    .addColumn("modified", "varchar(40)", (column) => column.notNull())
    .execute();
  await index(db, "inv_objects_modified", "inv_objects", ["modified"]);
  await table(db, "inv_versions")
    .addColumn("inv_object_id", "integer", (column) => column.notNull().references("inv_objects.id"))
    .addColumn("ark", "varchar(255)", (column) => column.notNull())
    .addColumn("number", "integer", (column) => column.notNull())
    .addColumn("note", "text", (column) => column.notNull())
    .addColumn("created", "varchar(40)", (column) => column.notNull())
    .addUniqueConstraint("inv_versions_object_number", ["inv_object_id", "number"])
    .addUniqueConstraint("inv_versions_ark_number", ["ark", "number"])
    .execute();
}

async function upVersionParts(db: Database): Promise<void> {
  const ofVersion = (name: string): CreateTableBuilder<string, string> =>
    table(db, name)
      .addColumn("inv_object_id", "integer", (column) => column.notNull().references("inv_objects.id"))
      .addColumn("inv_version_id", "integer", (column) => column.notNull().references("inv_versions.id"));
  await ofVersion("inv_files")
    .addColumn("pathname", "text", (column) => column.notNull())
    .addColumn("source", "varchar(16)", (column) => column.notNull())
    .addColumn("role", "varchar(16)", (column) => column.notNull())
    .addColumn("full_size", "bigint", (column) => column.notNull())
    .addColumn("billable_size", "bigint", (column) => column.notNull())
    .addColumn("mime_type", "varchar(255)", (column) => column.notNull())
    .addColumn("digest_type", "varchar(16)", (column) => column.notNull())
    .addColumn("digest_value", "varchar(255)", (column) => column.notNull())
    .addColumn("created", "varchar(40)", (column) => column.notNull())
    .addUniqueConstraint("inv_files_version_pathname", ["inv_version_id", "pathname"])
    .execute();
  await index(db, "inv_files_object", "inv_files", ["inv_object_id"]);
  await ofVersion("inv_ingests")
    .addColumn("filename", "varchar(255)", (column) => column.notNull())
    .addColumn("ingest_type", "varchar(40)", (column) => column.notNull())
    .addColumn("profile", "varchar(255)", (column) => column.notNull())
    .addColumn("batch_id", "varchar(255)", (column) => column.notNull())
    .addColumn("job_id", "varchar(255)", (column) => column.notNull())
    .addColumn("user_agent", "varchar(255)")
    .addColumn("submitted", "varchar(40)", (column) => column.notNull())
    .addColumn("storage_url", "text", (column) => column.notNull())
    .addUniqueConstraint("inv_ingests_version", ["inv_version_id"])
    .execute();
  await index(db, "inv_ingests_batch", "inv_ingests", ["batch_id"]);
  await ofVersion("inv_dublinkernels")
    .addColumn("seq_num", "integer", (column) => column.notNull())
    .addColumn("element", "varchar(255)", (column) => column.notNull())
    .addColumn("qualifier", "varchar(255)")
    .addColumn("value", "text", (column) => column.notNull())
    .addUniqueConstraint("inv_dublinkernels_version_seq", ["inv_version_id", "seq_num"])
    .execute();
}

async function upLinks(db: Database): Promise<void> {
  await table(db, "inv_collections_inv_objects")
    .addColumn("inv_collection_id", "integer", (column) => column.notNull().references("inv_collections.id"))
    .addColumn("inv_object_id", "integer", (column) => column.notNull().references("inv_objects.id"))
    .addUniqueConstraint("inv_collections_inv_objects_once", ["inv_collection_id", "inv_object_id"])
    .execute();
  await table(db, "inv_nodes_inv_objects")
    .addColumn("inv_node_id", "integer", (column) => column.notNull().references("inv_nodes.id"))
    .addColumn("inv_object_id", "integer", (column) => column.notNull().references("inv_objects.id"))
    .addColumn("role", "varchar(16)", (column) => column.notNull().check(sql`role in ('primary', 'secondary')`))
    .addColumn("version_number", "integer", (column) => column.notNull())
    .addColumn("created", "varchar(40)", (column) => column.notNull())
    .addUniqueConstraint("inv_nodes_inv_objects_once", ["inv_node_id", "inv_object_id"])
    .execute();
}

async function upArchive(db: Database): Promise<void> {
  await table(db, "archived_batches")
    .addColumn("batch_id", "varchar(32)", (column) => column.notNull())
    .addColumn("batch_uuid", "varchar(64)", (column) => column.notNull().unique())
    .addColumn("status", "varchar(32)", (column) => column.notNull())
    .addColumn("profile", "varchar(255)", (column) => column.notNull())
    .addColumn("submitter", "text", (column) => column.notNull())
    .addColumn("archived", "varchar(40)", (column) => column.notNull())
    .addColumn("document", "text", (column) => column.notNull())
    .execute();
  await index(db, "archived_batches_batch_id", "archived_batches", ["batch_id"]);
  await table(db, "archived_jobs")
    .addColumn("batch_uuid", "varchar(64)", (column) => column.notNull())
    .addColumn("job_id", "varchar(32)", (column) => column.notNull())
    .addColumn("job_uuid", "varchar(64)", (column) => column.notNull())
    .addColumn("status", "varchar(32)", (column) => column.notNull())
    .addColumn("document", "text", (column) => column.notNull())
    .addUniqueConstraint("archived_jobs_once", ["batch_uuid", "job_id"])
    .execute();
  await index(db, "archived_jobs_job_id", "archived_jobs", ["job_id"]);
  await index(db, "archived_jobs_job_uuid", "archived_jobs", ["job_uuid"]);
}

export const SQLITE_MIGRATIONS: Migrations = {
  "2026-01-inventory": {
    async up(db: Database) {
      await upNames(db);
      await upObjects(db);
      await upVersionParts(db);
      await upLinks(db);
    },
  },
  "2026-02-archive": { up: upArchive },
  "2026-03-access-and-audits": { up: upAccessAndAudits },
};
