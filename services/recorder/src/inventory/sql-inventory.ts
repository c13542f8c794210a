import type { Kysely } from "kysely";
import type { Inventory, RecordResult } from "./inventory.ts";
import { NotRecorded, recordVersion } from "./record-version.ts";
import type { InventoryTables } from "./tables.ts";

/** What a database's own errors mean; null = none of them. */
export type ErrorSorter = (error: unknown) => Extract<RecordResult, { kind: "refused" | "unavailable" }> | null;

export const sqlInventory = (db: Kysely<InventoryTables>, sortError: ErrorSorter): Inventory => ({
  async record(version, beforeCommit) {
    try {
      await db.transaction().execute(async (tx) => {
        await recordVersion(tx, version);
        await beforeCommit();
      });
      return { kind: "recorded" };
    } catch (error) {
      const result = error instanceof NotRecorded ? error.result : sortError(error);
      if (result === null) throw error;
      return result;
    }
  },
  close: () => db.destroy(),
});
