/**
 * Batches in the queue that have no record beside the files get one: those that were made by an older version or taken over
 * from another queue, and those whose record the disk did not take when they were accepted.
 */
import { type BatchUuid, parseBatchUuid, paths } from "@sluice/queue-core";
import type { Sweep } from "@sluice/stage-runtime";
import type { KeepAccepted } from "../files/accepted-records.ts";

const EVERY_MS = 300_000;

export interface AcceptedSweepParts {
  /** Which have a record; null: they cannot be read. */
  readonly listed: () => Promise<readonly BatchUuid[] | null>;
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
      const batches = there === null ? null : await session.children(paths.batchUuids);
      if (batches?.ok !== true) return;
      const known = new Set(there);
      const missing = batches.value.names
        .flatMap((name) => parseBatchUuid(name) ?? [])
        .filter((uuid) => !known.has(uuid));
      let written = 0;
      for (const uuid of missing) {
        if (signal.aborted) return;
        if (await keepAccepted.ifMissing(session, uuid)) written += 1;
      }
      if (written > 0) log.info({ batches: written }, "batches had no record beside the files, and have one now");
    },
  };
}
