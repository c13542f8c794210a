import { archiveBatch, findArchivedBatch, findArchivedJob, listArchivedJobs } from "./archive-rows.ts";
import { auditArchive } from "./audit-rows.ts";
import { belongingOf } from "./belonging.ts";
import { type Database, inTransaction } from "./database.ts";
import { closedUntilChecked, fleetStamp } from "./fleet-stamp.ts";
import type { Inventory, InventoryStamp, RecordResult } from "./inventory.ts";
import { findLocalIds, localIdsOf, NameTaken, registerLocalIds } from "./local-ids.ts";
import { NotRecorded } from "./not-recorded.ts";
import { recordedOf, recordedSince } from "./recorded.ts";
import { recordVersion } from "./record-version.ts";
import type { StoredVersion } from "./stored-version.ts";

export interface InventoryOptions {
  /** `first`: it is used only after its stamp was found to be the fleet's. */
  readonly checked?: "first";
}

export function sqlInventory(database: Database, { checked }: InventoryOptions = {}): Inventory {
  if (checked === undefined)
    return inventoryOver(
      database,
      fleetStamp(database, () => undefined),
    );
  const closed = closedUntilChecked(database);
  return inventoryOver(closed.database, fleetStamp(database, closed.open));
}

const inventoryOver = (database: Database, stamp: InventoryStamp): Inventory => ({
  stamp,
  record: (version, beforeCommit = () => Promise.resolve()) => record(database, version, beforeCommit),
  findLocalIds: (ownerArk, localIds) => findLocalIds(database, ownerArk, localIds),
  registerLocalIds: (claim) => registerLocalIds(database, claim),
  localIdsOf: (ownerArk, ark) => localIdsOf(database, ownerArk, ark),
  belongingOf: (ark) => belongingOf(database, ark),
  archiveBatch: (batch) => archiveBatch(database, batch),
  findArchivedBatch: (id) => findArchivedBatch(database, id),
  findArchivedJob: (id) => findArchivedJob(database, id),
  listArchivedJobs: (batch, page) => listArchivedJobs(database, batch, page),
  ...auditArchive(database),
  recordedOf: (batch) => recordedOf(database, batch),
  recordedSince: (since) => recordedSince(database, since),
  close: () => database.db.destroy(),
});

async function record(
  database: Database,
  version: StoredVersion,
  beforeCommit: () => Promise<void>,
): Promise<RecordResult> {
  try {
    const answer = await inTransaction(database, async (tx) => {
      await recordVersion(tx, version);
      await beforeCommit();
    });
    return answer.ok ? { kind: "recorded" } : answer.fault;
  } catch (error) {
    if (error instanceof NotRecorded) return error.result;
    if (error instanceof NameTaken) return error.conflict;
    throw error;
  }
}
