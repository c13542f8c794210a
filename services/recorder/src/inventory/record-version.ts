/** One version, one transaction. */
import type { Transaction } from "kysely";
import type { StoredVersion } from "../stored/stored-version.ts";
import type { RecordResult } from "./inventory.ts";
import { ercColumns, fileRow, ingestRow, kernelRows, nodeNumber, objectRow, versionRow } from "./rows.ts";
import type { InventoryTables } from "./tables.ts";

type Tx = Transaction<InventoryTables>;

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

/** In a transaction that holds the write lock: what is read here cannot be overtaken. */
export async function recordVersion(tx: Tx, version: StoredVersion): Promise<void> {
  const ownerId = await idByArk(tx, "inv_owners", version.owner);
  const object = await idOfObject(tx, version, ownerId);
  await refuseIfRecorded(tx, object, version);
  const { id } = await tx
    .insertInto("inv_versions")
    .values(versionRow(version, object))
    .returning("id")
    .executeTakeFirstOrThrow();
  await insertParts(tx, version, { inv_object_id: object, inv_version_id: id });
  await insertLocalIds(tx, version);
  await linkCollections(tx, version, object);
  await linkNode(tx, version, object);
  await raiseObject(tx, version, object);
}

/** Makes the row if it is not there. */
async function idByArk(tx: Tx, table: "inv_owners" | "inv_collections", ark: string): Promise<number> {
  await tx
    .insertInto(table)
    .values({ ark })
    .onConflict((conflict) => conflict.column("ark").doNothing())
    .execute();
  return (await tx.selectFrom(table).select("id").where("ark", "=", ark).executeTakeFirstOrThrow()).id;
}

async function idOfObject(tx: Tx, version: StoredVersion, ownerId: number): Promise<number> {
  await tx
    .insertInto("inv_objects")
    .values(objectRow(version, ownerId))
    .onConflict((conflict) => conflict.column("ark").doNothing())
    .execute();
  const { ark } = version;
  return (await tx.selectFrom("inv_objects").select("id").where("ark", "=", ark).executeTakeFirstOrThrow()).id;
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

/** A depositor's name for an object stands for that object for ever. */
async function insertLocalIds(tx: Tx, { ark, owner, mom, created }: StoredVersion): Promise<void> {
  for (const localId of mom.localIds) {
    await tx
      .insertInto("inv_localids")
      .values({ inv_object_ark: ark, inv_owner_ark: owner, local_id: localId, created })
      .onConflict((conflict) => conflict.columns(["inv_owner_ark", "local_id"]).doNothing())
      .execute();
    const { inv_object_ark: holder } = await tx
      .selectFrom("inv_localids")
      .select("inv_object_ark")
      .where("inv_owner_ark", "=", owner)
      .where("local_id", "=", localId)
      .executeTakeFirstOrThrow();
    if (holder !== ark) {
      throw new NotRecorded({
        kind: "conflict",
        message: `the local id ${localId} is that of ${holder}, not of ${ark}`,
      });
    }
  }
}

async function linkCollections(tx: Tx, version: StoredVersion, objectId: number): Promise<void> {
  for (const ark of version.collections) {
    const collectionId = await idByArk(tx, "inv_collections", ark);
    await tx
      .insertInto("inv_collections_inv_objects")
      .values({ inv_collection_id: collectionId, inv_object_id: objectId })
      .onConflict((conflict) => conflict.columns(["inv_collection_id", "inv_object_id"]).doNothing())
      .execute();
  }
}

async function linkNode(tx: Tx, version: StoredVersion, objectId: number): Promise<void> {
  const number = nodeNumber(version);
  await tx
    .insertInto("inv_nodes")
    .values({ number, logical_volume: version.ingest.storageService ?? null })
    .onConflict((conflict) => conflict.column("number").doNothing())
    .execute();
  const node = await tx.selectFrom("inv_nodes").select("id").where("number", "=", number).executeTakeFirstOrThrow();
  const { number: versionNumber, created } = version;
  await tx
    .insertInto("inv_nodes_inv_objects")
    .values({
      inv_node_id: node.id,
      inv_object_id: objectId,
      role: "primary",
      version_number: versionNumber,
      created,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["inv_node_id", "inv_object_id"])
        .doUpdateSet({ version_number: versionNumber })
        .where("inv_nodes_inv_objects.version_number", "<", versionNumber),
    )
    .execute();
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
