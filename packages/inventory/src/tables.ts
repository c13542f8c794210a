/** The inventory's tables, with the names and columns of Merritt's, and the archive of batches that left the queue. */
import type { Generated } from "kysely";

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
  inv_nodes: { id: Generated<number>; number: number; logical_volume: string | null };
  inv_nodes_inv_objects: {
    id: Generated<number>;
    inv_node_id: number;
    inv_object_id: number;
    role: "primary" | "secondary";
    version_number: number;
    created: string;
  };
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
  archived_jobs: {
    id: Generated<number>;
    batch_uuid: string;
    job_id: string;
    job_uuid: string;
    status: string;
    document: string;
  };
}
