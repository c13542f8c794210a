/** What was recorded, by the batches that it came with: for who must find out how far they had come. */
import { type Database, found, reading } from "./database.ts";
import type { Found, RecordedBatch } from "./inventory.ts";

export async function recordedOf(database: Database, batch: string): Promise<Found<number>> {
  const answer = await reading(database, (db) =>
    db
      .selectFrom("inv_ingests")
      .select(({ fn }) => fn.countAll<number | string>().as("versions"))
      .where("batch_id", "=", batch)
      .executeTakeFirstOrThrow(),
  );
  return found(answer.ok ? { ok: true, value: Number(answer.value.versions) } : answer);
}

export async function recordedSince(database: Database, since: string): Promise<Found<readonly RecordedBatch[]>> {
  const answer = await reading(database, (db) =>
    db
      .selectFrom("inv_ingests")
      .innerJoin("inv_versions", "inv_versions.id", "inv_ingests.inv_version_id")
      .select(({ fn }) => ["inv_ingests.batch_id as batch", fn.countAll<number | string>().as("versions")])
      .where("inv_versions.created", ">=", since)
      .groupBy("inv_ingests.batch_id")
      .orderBy("inv_ingests.batch_id")
      .execute(),
  );
  if (!answer.ok) return found(answer);
  const value = answer.value.map(({ batch, versions }) => ({ batch, versions: Number(versions) }));
  return { kind: "found", value };
}
