/** Embargoes, data use agreements, descriptions, and the auditor's work list. */
import { type Kysely, sql } from "kysely";
import { addNodeColumns } from "./add-column.ts";
import { index, table } from "./sqlite-parts.ts";

type Database = Kysely<unknown>;

export async function upAccessAndAudits(db: Database): Promise<void> {
  await addNodeColumns(db, "varchar(40)", "text");
  await upAccess(db);
  await upMetadata(db);
  await upAudits(db);
}

async function upAccess(db: Database): Promise<void> {
  await table(db, "inv_embargoes")
    .addColumn("inv_object_id", "integer", (column) => column.notNull().unique().references("inv_objects.id"))
    .addColumn("embargo_end_date", "varchar(40)", (column) => column.notNull())
    .execute();
  await index(db, "inv_embargoes_end_date", "inv_embargoes", ["embargo_end_date"]);
  const obligation = sql`varchar(8)`;
  await table(db, "inv_duas")
    .addColumn("inv_collection_id", "integer", (column) => column.references("inv_collections.id"))
    .addColumn("inv_object_id", "integer", (column) => column.notNull().unique().references("inv_objects.id"))
    .addColumn("identifier", "text")
    .addColumn("title", "text", (column) => column.notNull())
    .addColumn("terms", "text", (column) => column.notNull())
    .addColumn("template", "text")
    .addColumn("accept_obligation", obligation, (column) => column.notNull())
    .addColumn("name_obligation", obligation, (column) => column.notNull())
    .addColumn("affiliation_obligation", obligation, (column) => column.notNull())
    .addColumn("email_obligation", obligation, (column) => column.notNull())
    .addColumn("applicability", "varchar(16)", (column) => column.notNull())
    .addColumn("persistence", "varchar(16)", (column) => column.notNull())
    .addColumn("notification", "text", (column) => column.notNull())
    .execute();
}

async function upMetadata(db: Database): Promise<void> {
  await table(db, "inv_metadatas")
    .addColumn("inv_object_id", "integer", (column) => column.notNull().references("inv_objects.id"))
    .addColumn("inv_version_id", "integer", (column) => column.notNull().references("inv_versions.id"))
    .addColumn("filename", "varchar(255)", (column) => column.notNull())
    .addColumn("md_schema", "varchar(16)", (column) => column.notNull())
    .addColumn("version", "varchar(255)")
    .addColumn("serialization", "varchar(4)", (column) => column.notNull())
    .addColumn("value", "text")
    .addUniqueConstraint("inv_metadatas_version_filename", ["inv_version_id", "filename"])
    .execute();
  await index(db, "inv_metadatas_object", "inv_metadatas", ["inv_object_id"]);
}

async function upAudits(db: Database): Promise<void> {
  await table(db, "inv_audits")
    .addColumn("inv_node_id", "integer", (column) => column.notNull().references("inv_nodes.id"))
    .addColumn("inv_object_id", "integer", (column) => column.notNull().references("inv_objects.id"))
    .addColumn("inv_version_id", "integer", (column) => column.notNull().references("inv_versions.id"))
    .addColumn("inv_file_id", "integer", (column) => column.notNull().references("inv_files.id"))
    .addColumn("url", "text", (column) => column.notNull())
    .addColumn("status", "varchar(20)", (column) => column.notNull())
    .addColumn("created", "varchar(40)", (column) => column.notNull())
    .addColumn("verified", "varchar(40)")
    .addColumn("modified", "varchar(40)")
    .addColumn("failed_size", "bigint", (column) => column.notNull().defaultTo(0))
    .addColumn("failed_digest_value", "varchar(255)")
    .addColumn("note", "text")
    .addUniqueConstraint("inv_audits_node_file", ["inv_node_id", "inv_file_id"])
    .execute();
  for (const column of ["inv_object_id", "inv_version_id", "inv_file_id", "status", "verified"])
    await index(db, `inv_audits_${column}`, "inv_audits", [column]);
}
