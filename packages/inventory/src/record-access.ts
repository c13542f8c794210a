/** Who may see an object, and on which terms: as its newest version says, or nothing if that says nothing. */
import type { Tx } from "./database.ts";
import { idByArk } from "./id-by-ark.ts";
import { dataUseRow, embargoRow } from "./rows.ts";
import type { StoredVersion } from "./stored-version.ts";

export async function putEmbargo(tx: Tx, { embargoEndDate }: StoredVersion, objectId: number): Promise<void> {
  await tx.deleteFrom("inv_embargoes").where("inv_object_id", "=", objectId).execute();
  if (embargoEndDate === null) return;
  await tx.insertInto("inv_embargoes").values(embargoRow(embargoEndDate, objectId)).execute();
}

export async function putDataUse(tx: Tx, version: StoredVersion, objectId: number): Promise<void> {
  await tx.deleteFrom("inv_duas").where("inv_object_id", "=", objectId).execute();
  if (version.dataUse === null) return;
  const inv_collection_id = await collectionThatItIs(tx, version);
  const row = dataUseRow(version.dataUse, { inv_object_id: objectId, inv_collection_id });
  await tx.insertInto("inv_duas").values(row).execute();
}

const collectionThatItIs = async (tx: Tx, { ark, mom }: StoredVersion): Promise<number | null> =>
  mom.aggregate === "MRT-collection" ? idByArk(tx, "inv_collections", ark) : null;
