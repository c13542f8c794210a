/** One version, one transaction. */
import type { Tx } from "./database.ts";
import type { RecordResult } from "./inventory.ts";
import { putLocalIds } from "./local-ids.ts";
import { ercColumns, fileRow, ingestRow, kernelRows, nodeNumber, objectRow, versionRow } from "./rows.ts";
import type { StoredVersion } from "./stored-version.ts";

/** Rows per statement: SQLite allows 32,766 values in one. */
const FILE_ROWS = 500;

/** Leaves the transaction, which undoes it. */
export class NotRecorded extends Error {
  readonly result: RecordResult;

  constructor(result: RecordResult) {
    super(result.kind);
    this.result = result;
  }
}

/**
 * What is made when first met is looked for first: the same words for every database, and no lock on rows that all share.
 * Two that make the same row at once meet at its unique key, and the one that loses is tried again from the beginning.
 */
export async function recordVersion(tx: Tx, version: StoredVersion): Promise<void> {
  const ownerId = await idByArk(tx, "inv_owners", version.owner);
  const object = await lockObject(tx, version, ownerId);
  await refuseIfRecorded(tx, object, version);
  await tx.insertInto("inv_versions").values(versionRow(version, object)).execute();
  await insertParts(tx, version, { inv_object_id: object, inv_version_id: await idOfVersion(tx, version, object) });
  const { ark, owner: ownerArk, created } = version;
  await putLocalIds(tx, { ownerArk, ark, localIds: version.mom.localIds, created });
  await linkCollections(tx, version, object);
  await linkNode(tx, version, object);
  await raiseObject(tx, version, object);
}

async function idByArk(tx: Tx, table: "inv_owners" | "inv_collections", ark: string): Promise<number> {
  const find = () => tx.selectFrom(table).select("id").where("ark", "=", ark);
  const there = await find().executeTakeFirst();
  if (there !== undefined) return there.id;
  await tx.insertInto(table).values({ ark }).execute();
  return (await find().executeTakeFirstOrThrow()).id;
}

async function lockObject(tx: Tx, version: StoredVersion, ownerId: number): Promise<number> {
  const { ark } = version;
  // Changes nothing, but holds the row: what is read of this object from here on cannot be overtaken.
  await tx
    .updateTable("inv_objects")
    .set((column) => ({ modified: column.ref("modified") }))
    .where("ark", "=", ark)
    .execute();
  const find = () => tx.selectFrom("inv_objects").select("id").where("ark", "=", ark);
  const there = await find().executeTakeFirst();
  if (there !== undefined) return there.id;
  await tx.insertInto("inv_objects").values(objectRow(version, ownerId)).execute();
  return (await find().executeTakeFirstOrThrow()).id;
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
  const message = `version ${version.number} of ${version.ark} is recorded for the job ${there.job_id}`;
  throw new NotRecorded({ kind: "refused", message });
}

async function insertParts(
  tx: Tx,
  version: StoredVersion,
  parents: { inv_object_id: number; inv_version_id: number },
): Promise<void> {
  for (let first = 0; first < version.files.length; first += FILE_ROWS) {
    const rows = version.files.slice(first, first + FILE_ROWS).map((file) => fileRow(file, version.created, parents));
    await tx.insertInto("inv_files").values(rows).execute();
  }
  await tx.insertInto("inv_ingests").values(ingestRow(version, parents)).execute();
  await tx.insertInto("inv_dublinkernels").values(kernelRows(version, parents)).execute();
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

async function linkNode(tx: Tx, version: StoredVersion, objectId: number): Promise<void> {
  const { number: version_number, created } = version;
  const link = { inv_node_id: await idOfNode(tx, version), inv_object_id: objectId };
  const there = await tx
    .selectFrom("inv_nodes_inv_objects")
    .select(["id", "version_number"])
    .where("inv_node_id", "=", link.inv_node_id)
    .where("inv_object_id", "=", objectId)
    .executeTakeFirst();
  if (there === undefined) {
    const row = { ...link, role: "primary", version_number, created } as const;
    await tx.insertInto("inv_nodes_inv_objects").values(row).execute();
  } else if (there.version_number < version_number) {
    await tx.updateTable("inv_nodes_inv_objects").set({ version_number }).where("id", "=", there.id).execute();
  }
}

async function idOfNode(tx: Tx, version: StoredVersion): Promise<number> {
  const number = nodeNumber(version);
  const find = () => tx.selectFrom("inv_nodes").select("id").where("number", "=", number);
  const there = await find().executeTakeFirst();
  if (there !== undefined) return there.id;
  const logical_volume = version.ingest.storageService ?? null;
  await tx.insertInto("inv_nodes").values({ number, logical_volume }).execute();
  return (await find().executeTakeFirstOrThrow()).id;
}

/** The object says what its highest version says, in whatever order versions are recorded. */
async function raiseObject(tx: Tx, version: StoredVersion, objectId: number): Promise<void> {
  await tx
    .updateTable("inv_objects")
    .set({ version_number: version.number, ...ercColumns(version), modified: version.created })
    .where("id", "=", objectId)
    .where("version_number", "<", version.number)
    .execute();
}
