/** One version, one transaction. */
import type { Tx } from "./database.ts";
import { refuseIfForeign } from "./belonging.ts";
import { idByArk } from "./id-by-ark.ts";
import { putLocalIds } from "./local-ids.ts";
import { NotRecorded } from "./not-recorded.ts";
import { putDataUse, putEmbargo } from "./record-access.ts";
import { putAudits, putFiles } from "./record-files.ts";
import {
  ercColumns,
  ingestRow,
  kernelRows,
  metadataRow,
  nodeNumber,
  nodeRow,
  objectRow,
  type Parents,
  versionRow,
} from "./rows.ts";
import type { StoredVersion } from "./stored-version.ts";

/**
 * What is made when first met is looked for first: the same words for every database, and no lock on rows that all share.
 * Two that make the same row at once meet at its unique key, and the one that loses is tried again from the beginning.
 */
export async function recordVersion(tx: Tx, version: StoredVersion): Promise<void> {
  const ownerId = await idByArk(tx, "inv_owners", version.owner);
  const object = await lockObject(tx, version, ownerId);
  await refuseIfRecorded(tx, object.id, version);
  if (object.isThere) await refuseIfForeign(tx, version);
  await tx.insertInto("inv_versions").values(versionRow(version, object.id)).execute();
  const parents = { inv_object_id: object.id, inv_version_id: await idOfVersion(tx, version, object.id) };
  await putFiles(tx, version, parents);
  await insertParts(tx, version, parents);
  const { ark, owner: ownerArk, created } = version;
  await putLocalIds(tx, { ownerArk, ark, localIds: version.mom.localIds, created });
  await linkCollections(tx, version, object.id);
  const nodeId = await idOfNode(tx, version);
  await linkNode(tx, version, object, nodeId);
  await putAudits(tx, version, { ...parents, inv_node_id: nodeId });
  if (object.isNewest) await describeObject(tx, version, object.id);
}

interface LockedObject {
  readonly id: number;
  /** It was recorded before. */
  readonly isThere: boolean;
  /** No higher version is recorded: the object is what this one says, in whatever order versions come. */
  readonly isNewest: boolean;
}

async function lockObject(tx: Tx, version: StoredVersion, ownerId: number): Promise<LockedObject> {
  const { ark } = version;
  // Changes nothing, but holds the row: what is read of this object from here on cannot be overtaken.
  await tx
    .updateTable("inv_objects")
    .set((column) => ({ modified: column.ref("modified") }))
    .where("ark", "=", ark)
    .execute();
  const find = () => tx.selectFrom("inv_objects").select(["id", "version_number"]).where("ark", "=", ark);
  const there = await find().executeTakeFirst();
  if (there !== undefined) return { id: there.id, isThere: true, isNewest: there.version_number < version.number };
  await tx.insertInto("inv_objects").values(objectRow(version, ownerId)).execute();
  return { id: (await find().executeTakeFirstOrThrow()).id, isThere: false, isNewest: true };
}

async function idOfVersion(tx: Tx, { number }: StoredVersion, objectId: number): Promise<number> {
  const row = await tx
    .selectFrom("inv_versions")
    .select("id")
    .where("inv_object_id", "=", objectId)
    .where("number", "=", number)
    .executeTakeFirstOrThrow();
  return row.id;
}

async function refuseIfRecorded(tx: Tx, objectId: number, version: StoredVersion): Promise<void> {
  const there = await tx
    .selectFrom("inv_versions")
    .innerJoin("inv_ingests", "inv_ingests.inv_version_id", "inv_versions.id")
    .select("inv_ingests.job_id")
    .where("inv_versions.inv_object_id", "=", objectId)
    .where("inv_versions.number", "=", version.number)
    .executeTakeFirst();
  if (there === undefined) return;
  if (there.job_id === version.ingest.job) throw new NotRecorded({ kind: "already" });
  const message = `version ${version.number} of ${version.ark} is recorded for another job`;
  throw new NotRecorded({ kind: "refused", message });
}

async function insertParts(tx: Tx, version: StoredVersion, parents: Parents): Promise<void> {
  await tx.insertInto("inv_ingests").values(ingestRow(version, parents)).execute();
  await tx.insertInto("inv_dublinkernels").values(kernelRows(version, parents)).execute();
  // One by one: a value may be long, and a statement must fit into a packet.
  for (const metadata of version.metadata)
    await tx.insertInto("inv_metadatas").values(metadataRow(metadata, parents)).execute();
}

async function linkCollections(tx: Tx, version: StoredVersion, objectId: number): Promise<void> {
  for (const ark of new Set(version.collections)) {
    const link = { inv_collection_id: await idByArk(tx, "inv_collections", ark), inv_object_id: objectId };
    const there = await tx
      .selectFrom("inv_collections_inv_objects")
      .select("id")
      .where("inv_collection_id", "=", link.inv_collection_id)
      .where("inv_object_id", "=", objectId)
      .executeTakeFirst();
    if (there === undefined) await tx.insertInto("inv_collections_inv_objects").values(link).execute();
  }
}

/** One node is primary, that of the newest version; a node that has got a new version is to be replicated again. */
async function linkNode(tx: Tx, version: StoredVersion, object: LockedObject, nodeId: number): Promise<void> {
  const { number: version_number, created } = version;
  const links = tx.updateTable("inv_nodes_inv_objects").where("inv_object_id", "=", object.id);
  if (object.isNewest) await links.set({ role: "secondary" }).where("inv_node_id", "!=", nodeId).execute();
  const there = await tx
    .selectFrom("inv_nodes_inv_objects")
    .select(["id", "version_number"])
    .where("inv_node_id", "=", nodeId)
    .where("inv_object_id", "=", object.id)
    .executeTakeFirst();
  const role = object.isNewest ? "primary" : "secondary";
  if (there === undefined) {
    const row = { inv_node_id: nodeId, inv_object_id: object.id, role, version_number, created } as const;
    await tx.insertInto("inv_nodes_inv_objects").values(row).execute();
  } else if (there.version_number < version_number) {
    await links.set({ role, version_number, replicated: null }).where("id", "=", there.id).execute();
  }
}

async function idOfNode(tx: Tx, version: StoredVersion): Promise<number> {
  const find = () => tx.selectFrom("inv_nodes").select("id").where("number", "=", nodeNumber(version));
  const there = await find().executeTakeFirst();
  if (there !== undefined) return there.id;
  await tx.insertInto("inv_nodes").values(nodeRow(version)).execute();
  return (await find().executeTakeFirstOrThrow()).id;
}

/** What the object itself is, rather than one of its versions. */
async function describeObject(tx: Tx, version: StoredVersion, objectId: number): Promise<void> {
  await tx
    .updateTable("inv_objects")
    .set({ version_number: version.number, ...ercColumns(version), modified: version.created })
    .where("id", "=", objectId)
    .execute();
  await putEmbargo(tx, version, objectId);
  await putDataUse(tx, version, objectId);
}
