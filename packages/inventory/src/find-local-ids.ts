import { type Database, reading } from "./database.ts";
import type { LocalIdAnswer } from "./inventory.ts";

export async function findLocalIds(
  database: Database,
  ownerArk: string,
  localIds: readonly string[],
): Promise<LocalIdAnswer> {
  if (localIds.length === 0) return { kind: "none" };
  const answer = await reading(database, (db) =>
    db
      .selectFrom("inv_localids")
      .select(["inv_object_ark", "local_id"])
      .where("inv_owner_ark", "=", ownerArk)
      .where("local_id", "in", localIds)
      .orderBy("local_id")
      .execute(),
  );
  // A question cannot be refused for good: it is asked again.
  if (!answer.ok) return { kind: "unavailable", message: answer.fault.message };
  const [first, ...others] = answer.value;
  if (first === undefined) return { kind: "none" };
  const other = others.find(({ inv_object_ark }) => inv_object_ark !== first.inv_object_ark);
  if (other === undefined) return { kind: "found", ark: first.inv_object_ark };
  const stands = (row: typeof first): string => `${row.local_id} is the name of ${row.inv_object_ark}`;
  return { kind: "conflict", message: `${stands(first)}, ${stands(other)}` };
}
