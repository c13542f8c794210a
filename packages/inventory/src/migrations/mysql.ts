/**
 * The tables in MySQL and MariaDB, as their people read them. Every statement may be repeated: neither rolls a half-made
 * schema back.
 */
import type { Kysely } from "kysely";
import type { Migrations } from "../migrate.ts";
import { upAccessAndAudits } from "./mysql-access-and-audits.ts";
import { ID, make, TIME } from "./mysql-parts.ts";

type Database = Kysely<unknown>;

const ARK = "varchar(255) not null";

const INVENTORY: readonly string[] = [
  `create table if not exists inv_owners (
    ${ID}, ark ${ARK}, name varchar(255),
    unique key inv_owners_ark (ark))`,
  `create table if not exists inv_collections (
    ${ID}, ark ${ARK}, name varchar(255), mnemonic varchar(255),
    unique key inv_collections_ark (ark))`,
  `create table if not exists inv_nodes (
    ${ID}, number int not null, logical_volume varchar(255),
    unique key inv_nodes_number (number))`,
  `create table if not exists inv_localids (
    ${ID}, inv_object_ark ${ARK}, inv_owner_ark ${ARK}, local_id varchar(255) not null, created ${TIME},
    unique key inv_localids_owner_local_id (inv_owner_ark, local_id),
    key inv_localids_object_ark (inv_object_ark))`,
  `create table if not exists inv_objects (
    ${ID}, inv_owner_id bigint not null, ark ${ARK}, md5_3 char(3) not null,
    object_type varchar(32) not null, role varchar(32) not null, aggregate_role varchar(40), version_number int not null,
    erc_who longtext, erc_what longtext, erc_when longtext, erc_where longtext, created ${TIME}, modified ${TIME},
    unique key inv_objects_ark (ark), key inv_objects_modified (modified),
    foreign key (inv_owner_id) references inv_owners (id))`,
  `create table if not exists inv_versions (
    ${ID}, inv_object_id bigint not null, ark ${ARK}, number int not null, note longtext not null, created ${TIME},
    unique key inv_versions_object_number (inv_object_id, number), unique key inv_versions_ark_number (ark, number),
    foreign key (inv_object_id) references inv_objects (id))`,
  // A path may be longer than a key of an index: its digest stands for it.
  `create table if not exists inv_files (
    ${ID}, inv_object_id bigint not null, inv_version_id bigint not null, pathname longtext not null,
    source varchar(16) not null, role varchar(16) not null, full_size bigint not null, billable_size bigint not null,
    mime_type varchar(255) not null, digest_type varchar(16) not null, digest_value varchar(255) not null,
    created ${TIME}, pathname_digest binary(32) generated always as (unhex(sha2(pathname, 256))) stored,
    unique key inv_files_version_pathname (inv_version_id, pathname_digest), key inv_files_object (inv_object_id),
    foreign key (inv_object_id) references inv_objects (id),
    foreign key (inv_version_id) references inv_versions (id))`,
  `create table if not exists inv_ingests (
    ${ID}, inv_object_id bigint not null, inv_version_id bigint not null, filename longtext not null,
    ingest_type varchar(40) not null, profile varchar(255) not null, batch_id varchar(255) not null,
    job_id varchar(255) not null, user_agent longtext, submitted ${TIME}, storage_url longtext not null,
    unique key inv_ingests_version (inv_version_id), key inv_ingests_batch (batch_id),
    foreign key (inv_object_id) references inv_objects (id),
    foreign key (inv_version_id) references inv_versions (id))`,
  `create table if not exists inv_dublinkernels (
    ${ID}, inv_object_id bigint not null, inv_version_id bigint not null, seq_num int not null,
    element varchar(255) not null, qualifier varchar(255), value longtext not null,
    unique key inv_dublinkernels_version_seq (inv_version_id, seq_num),
    foreign key (inv_object_id) references inv_objects (id),
    foreign key (inv_version_id) references inv_versions (id))`,
  `create table if not exists inv_collections_inv_objects (
    ${ID}, inv_collection_id bigint not null, inv_object_id bigint not null,
    unique key inv_collections_inv_objects_once (inv_collection_id, inv_object_id),
    foreign key (inv_collection_id) references inv_collections (id),
    foreign key (inv_object_id) references inv_objects (id))`,
  `create table if not exists inv_nodes_inv_objects (
    ${ID}, inv_node_id bigint not null, inv_object_id bigint not null, role enum('primary', 'secondary') not null,
    version_number int not null, created ${TIME},
    unique key inv_nodes_inv_objects_once (inv_node_id, inv_object_id),
    foreign key (inv_node_id) references inv_nodes (id),
    foreign key (inv_object_id) references inv_objects (id))`,
];

const ARCHIVE: readonly string[] = [
  `create table if not exists archived_batches (
    ${ID}, batch_id varchar(32) not null, batch_uuid varchar(64) not null, status varchar(32) not null,
    profile varchar(255) not null, submitter longtext not null, archived ${TIME}, document longtext not null,
    unique key archived_batches_uuid (batch_uuid), key archived_batches_batch_id (batch_id))`,
  `create table if not exists archived_jobs (
    ${ID}, batch_uuid varchar(64) not null, job_id varchar(32) not null, job_uuid varchar(64) not null,
    status varchar(32) not null, document longtext not null,
    unique key archived_jobs_once (batch_uuid, job_id), key archived_jobs_job_id (job_id),
    key archived_jobs_job_uuid (job_uuid))`,
];

export const MYSQL_MIGRATIONS: Migrations = {
  "2026-01-inventory": { up: (db: Database) => make(db, INVENTORY) },
  "2026-02-archive": { up: (db: Database) => make(db, ARCHIVE) },
  "2026-03-access-and-audits": { up: upAccessAndAudits },
};
