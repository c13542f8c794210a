/** Embargoes, data use agreements, descriptions, and the auditor's work list. */
import type { Kysely } from "kysely";
import { addNodeColumns } from "./add-column.ts";
import { ID, make, TIME } from "./mysql-parts.ts";

const OBLIGATION = "enum('required', 'optional', 'none') not null";

const TABLES: readonly string[] = [
  `create table if not exists inv_embargoes (
    ${ID}, inv_object_id bigint not null, embargo_end_date ${TIME},
    unique key inv_embargoes_object (inv_object_id), key inv_embargoes_end_date (embargo_end_date),
    foreign key (inv_object_id) references inv_objects (id))`,
  `create table if not exists inv_duas (
    ${ID}, inv_collection_id bigint, inv_object_id bigint not null, identifier longtext, title longtext not null,
    terms longtext not null, template longtext, accept_obligation ${OBLIGATION}, name_obligation ${OBLIGATION},
    affiliation_obligation ${OBLIGATION}, email_obligation ${OBLIGATION},
    applicability enum('collection', 'object', 'version', 'file') not null,
    persistence enum('request', 'session', 'permanent') not null, notification longtext not null,
    unique key inv_duas_object (inv_object_id),
    foreign key (inv_collection_id) references inv_collections (id),
    foreign key (inv_object_id) references inv_objects (id))`,
  `create table if not exists inv_metadatas (
    ${ID}, inv_object_id bigint not null, inv_version_id bigint not null, filename varchar(255) not null,
    md_schema enum('DataCite', 'DublinCore', 'CSDGM', 'EML', 'OAI_DublinCore', 'StashWrapper') not null,
    version varchar(255), serialization enum('anvl', 'json', 'xml') not null, value mediumtext,
    unique key inv_metadatas_version_filename (inv_version_id, filename),
    foreign key (inv_object_id) references inv_objects (id),
    foreign key (inv_version_id) references inv_versions (id))`,
  `create table if not exists inv_audits (
    ${ID}, inv_node_id bigint not null, inv_object_id bigint not null, inv_version_id bigint not null,
    inv_file_id bigint not null, url longtext not null,
    status enum('verified', 'unverified', 'size-mismatch', 'digest-mismatch', 'system-unavailable', 'processing',
      'unknown') not null,
    created ${TIME}, verified varchar(40), modified varchar(40), failed_size bigint not null default 0,
    failed_digest_value varchar(255), note text,
    unique key inv_audits_node_file (inv_node_id, inv_file_id),
    key inv_audits_status (status), key inv_audits_verified (verified),
    foreign key (inv_node_id) references inv_nodes (id),
    foreign key (inv_object_id) references inv_objects (id),
    foreign key (inv_version_id) references inv_versions (id),
    foreign key (inv_file_id) references inv_files (id))`,
];

export async function upAccessAndAudits(db: Kysely<unknown>): Promise<void> {
  await addNodeColumns(db, "varchar(40)", "longtext");
  await make(db, TABLES);
}
