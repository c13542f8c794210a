/** The inventory's tables, with the names and columns of Merritt's, and the archive of batches that left the queue. */
import type { ColumnType, Generated } from "kysely";
import type { Applicability, Obligation, Persistence } from "./data-use.ts";
import type { MetadataSchema } from "./stored-version.ts";

/** Whoever audits the content moves on from `unverified`. */
export type AuditStatus =
  "unverified" | "verified" | "size-mismatch" | "digest-mismatch" | "system-unavailable" | "processing" | "unknown";

export interface InventoryTables {
  inv_owners: { id: Generated<number>; ark: string; name: string | null };
  inv_collections: { id: Generated<number>; ark: string; name: string | null; mnemonic: string | null };
  inv_objects: {
    id: Generated<number>;
    inv_owner_id: number;
    ark: string;
    /** The first three hexadecimal digits of the ARK's MD5: Merritt spreads its batch work by it. */
    md5_3: string;
    object_type: string;
    role: string;
    aggregate_role: string | null;
    /** The highest version that is recorded. */
    version_number: number;
    erc_who: string | null;
    erc_what: string | null;
    erc_when: string | null;
    erc_where: string | null;
    created: string;
    modified: string;
  };
  inv_versions: {
    id: Generated<number>;
    inv_object_id: number;
    ark: string;
    number: number;
    note: string;
    created: string;
  };
  inv_files: {
    id: Generated<number>;
    inv_object_id: number;
    inv_version_id: number;
    pathname: string;
    source: "producer" | "system";
    role: "data" | "metadata";
    full_size: number;
    billable_size: number;
    mime_type: string;
    digest_type: string;
    digest_value: string;
    created: string;
  };
  inv_ingests: {
    id: Generated<number>;
    inv_object_id: number;
    inv_version_id: number;
    filename: string;
    ingest_type: string;
    profile: string;
    batch_id: string;
    job_id: string;
    user_agent: string | null;
    submitted: string;
    storage_url: string;
  };
  inv_localids: {
    id: Generated<number>;
    inv_object_ark: string;
    inv_owner_ark: string;
    local_id: string;
    created: string;
  };
  inv_dublinkernels: {
    id: Generated<number>;
    inv_object_id: number;
    inv_version_id: number;
    seq_num: number;
    element: string;
    qualifier: string | null;
    value: string;
  };
  inv_collections_inv_objects: { id: Generated<number>; inv_collection_id: number; inv_object_id: number };
  inv_nodes: {
    id: Generated<number>;
    number: number;
    logical_volume: string | null;
    base_url: string | null;
    created: string | null;
  };
  inv_nodes_inv_objects: {
    id: Generated<number>;
    inv_node_id: number;
    inv_object_id: number;
    role: "primary" | "secondary";
    /** The highest version that the node holds. */
    version_number: number;
    created: string;
    /** Written by whoever replicates; null again with each new version. */
    replicated: string | null;
  };
  inv_metadatas: {
    id: Generated<number>;
    inv_object_id: number;
    inv_version_id: number;
    filename: string;
    md_schema: MetadataSchema;
    version: string | null;
    serialization: "anvl" | "json" | "xml";
    value: string | null;
  };
  /** At most one per object, as its highest version says. */
  inv_embargoes: { id: Generated<number>; inv_object_id: number; embargo_end_date: string };
  /** At most one per object, as its highest version says. */
  inv_duas: {
    id: Generated<number>;
    /** Of an object that is itself a collection. */
    inv_collection_id: number | null;
    inv_object_id: number;
    identifier: string | null;
    title: string;
    terms: string;
    template: string | null;
    accept_obligation: Obligation;
    name_obligation: Obligation;
    affiliation_obligation: Obligation;
    email_obligation: Obligation;
    applicability: Applicability;
    persistence: Persistence;
    notification: string;
  };
  /** The auditor's work list; what comes after `created`, and each change of `status`, is its own. */
  inv_audits: {
    id: Generated<number>;
    inv_node_id: number;
    inv_object_id: number;
    inv_version_id: number;
    inv_file_id: number;
    url: string;
    status: AuditStatus;
    created: string;
    verified: string | null;
    modified: string | null;
    failed_size: Generated<number>;
    failed_digest_value: string | null;
    note: string | null;
  };
  /** Which fleet's database this is: one row. */
  sluice_fleet: { one: number; fleet: string; epoch: ColumnType<number | string, number, number> };
  archived_batches: {
    id: Generated<number>;
    batch_id: string;
    /** Numbers may begin anew with a new queue; this does not. */
    batch_uuid: string;
    status: string;
    profile: string;
    submitter: string;
    archived: string;
    /** JSON. */
    document: string;
  };
  /** Operators' actions that have left the tree. */
  archived_audit: {
    id: Generated<number>;
    number: number;
    hash: string;
    record: string;
    /** When the tree was found to have another record under this number; null: it is part of the chain. */
    left_at: string | null;
  };
  archived_audit_anchors: { id: Generated<number>; number: number; hash: string; anchor: string };
  archived_jobs: {
    id: Generated<number>;
    batch_uuid: string;
    job_id: string;
    job_uuid: string;
    status: string;
    document: string;
  };
}
