/** Whose an object is, and that no version of another's becomes one of its own. */
import type { Belonging } from "@sluice/ingest-formats";
import { type Database, reading, type Tx } from "./database.ts";
import type { Found } from "./inventory.ts";
import { NotRecorded } from "./not-recorded.ts";
import type { StoredVersion } from "./stored-version.ts";

export async function belongingOf(database: Database, ark: string): Promise<Found<Belonging>> {
  const answer = await reading(database, (db) => selectBelonging(db, ark));
  // A question cannot be refused for good: it is asked again.
  if (!answer.ok) return { kind: "unavailable", message: answer.fault.message };
  return answer.value === null ? { kind: "none" } : { kind: "found", value: answer.value };
}

/**
 * The processor judges by the profile before it stores. This is the same rule by what the stored version says, for whatever came
 * between: two versions that were stored at once, a store that knew nothing of the object. To be called with the object's row locked.
 */
export async function refuseIfForeign(tx: Tx, version: StoredVersion): Promise<void> {
  const object = await selectBelonging(tx, version.ark);
  if (object !== null && !isOfSame(object, version)) {
    const message = `version ${version.number} of ${version.ark} was stored for another owner or collection than the object's`;
    throw new NotRecorded({ kind: "foreign", message });
  }
}

/**
 * A version that names the collection it was deposited for must find it among the object's. One that does not name it was stored under
 * a right to update further collections, and names those that the object has.
 */
function isOfSame(object: Belonging, { owner, collections, ingest }: StoredVersion): boolean {
  const deposited = collections.filter((ark) => ark === ingest.collection);
  const claimed = deposited.length > 0 ? deposited : collections;
  return object.owner === owner && claimed.some((ark) => object.collections.includes(ark));
}

async function selectBelonging(db: Database["db"], ark: string): Promise<Belonging | null> {
  const rows = await db
    .selectFrom("inv_objects")
    .innerJoin("inv_owners", "inv_owners.id", "inv_objects.inv_owner_id")
    .leftJoin("inv_collections_inv_objects", "inv_collections_inv_objects.inv_object_id", "inv_objects.id")
    .leftJoin("inv_collections", "inv_collections.id", "inv_collections_inv_objects.inv_collection_id")
    .select(["inv_owners.ark as owner", "inv_collections.ark as collection"])
    .where("inv_objects.ark", "=", ark)
    .orderBy("inv_collections_inv_objects.id")
    .execute();
  const [first] = rows;
  if (first === undefined) return null;
  return { owner: first.owner, collections: rows.flatMap(({ collection }) => collection ?? []) };
}
