/** The real recorder, for what a processor of a test has stored. */
import type { Inventory } from "@sluice/inventory";
import type { Job, JobChanges } from "@sluice/queue-core";
import { type JobContext, type Outcome, silentLog } from "@sluice/stage-runtime";
import { recordingStage } from "../../../recorder/src/record.ts";
import { ocflReader } from "../../../recorder/src/stored/ocfl-reader.ts";

const CONTEXT: JobContext = {
  signal: new AbortController().signal,
  clock: { nowMs: () => 0, monotonicMs: () => 0 },
  log: silentLog(),
  failpoint: () => Promise.resolve(),
  record: () => Promise.resolve(true),
  claimId: "claim",
  lockObjects: () => Promise.resolve(true),
  progress: () => undefined,
};

export function recordStored(store: string, inventory: Inventory, job: Job, changes: JobChanges): Promise<Outcome> {
  const stage = recordingStage({
    reader: ocflReader(store),
    inventory,
    busyWaitMs: 1,
    inventoryAwayWaitMs: 1,
    onInventoryAway: () => undefined,
  });
  const stored: Job = {
    ...job,
    state: "Recording",
    identifiers: changes.identifiers ?? job.identifiers,
    inventory: changes.inventory ?? null,
  };
  return Promise.resolve(stage.handle(stored, CONTEXT));
}
