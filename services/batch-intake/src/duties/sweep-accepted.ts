/**
 * Batches in the queue that have no record beside the files get one: those that were made by an older version or taken over
 * from another queue, and those whose record the disk did not take when they were accepted.
 */
import { BATCH_STATES, type BatchId, type BatchState, parseBatchId, paths } from "@sluice/queue-core";
import type { Sweep } from "@sluice/stage-runtime";
import type { KeepAccepted } from "../files/accepted-records.ts";

const EVERY_MS = 300_000;
/** Clean-up takes away the records of these. */
const OVER: readonly BatchState[] = ["Completed", "Deleted"];

export interface AcceptedSweepParts {
  /** Names of folders of batches that have a record; null: they cannot be read. */
  readonly listed: () => Promise<readonly { readonly batchId: BatchId }[] | null>;
  readonly keepAccepted: Pick<KeepAccepted, "ifMissing">;
}

export function sweepAccepted({ listed, keepAccepted }: AcceptedSweepParts): Sweep {
  return {
    kind: "sweep",
    name: "accepted-without-a-record",
    everyMs: EVERY_MS,
    async run({ queue: { session }, signal, log }) {
      // Before the batches: one that is accepted meanwhile has its record by itself.
      const there = await listed();
      if (there === null) return;
      const known = new Set(there.map(({ batchId }) => batchId));
      let written = 0;
      for (const state of BATCH_STATES.filter((each) => !OVER.includes(each))) {
        const batches = await session.children(paths.fleetBatchQueue(state));
        for (const id of (batches.ok ? batches.value.names : []).flatMap((name) => parseBatchId(name) ?? [])) {
          if (signal.aborted) return;
          if (!known.has(id) && (await keepAccepted.ifMissing(session, id))) written += 1;
        }
      }
      if (written > 0) log.info({ batches: written }, "batches had no record beside the files, and have one now");
    },
  };
}
