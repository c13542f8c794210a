/**
 * A record of each batch that was accepted, beside the files and before the depositor is answered: should ZooKeeper be lost
 * and put back to an older state, the batch is made again from it (docs/adr/0058-accepted-submissions-leave-a-record.md).
 */
import { type BatchId, type BatchPlace, parseBatchUuid, placeOfBatch, readBatch } from "@sluice/queue-core";
import type { IoFault } from "@sluice/safe-io";
import type { AcceptedBatch, AcceptedBatches } from "@sluice/working-folder";
import type { Session } from "@sluice/zookeeper";

export interface KeepAccepted {
  /** On disk when it answers, if the disk takes it: the batch stands in the queue either way, and is not refused for this. */
  readonly now: (place: BatchPlace, accepted: AcceptedBatch) => Promise<void>;
  /** Of a batch in the queue. Answers whether one had to be written. */
  readonly ifMissing: (session: Session, id: BatchId) => Promise<boolean>;
}

export function keepAcceptedIn(
  records: Pick<AcceptedBatches, "put" | "has" | "remove">,
  onUnkept: (place: BatchPlace, fault: IoFault) => void,
): KeepAccepted {
  const now: KeepAccepted["now"] = async (place, accepted) => {
    const put = await records.put(place, accepted);
    if (!put.ok) onUnkept(place, put.error);
  };
  return {
    now,
    async ifMissing(session, id) {
      const batch = await readBatch(session, id);
      if (batch.kind !== "found") return false;
      const { submission } = batch.value;
      const [place, uuid] = [placeOfBatch({ id, submission }), parseBatchUuid(submission.batchID ?? "")];
      if (uuid === null || (await records.has(place))) return false;
      await now(place, { uuid, submission });
      // Cleaned up meanwhile: a record without a batch would say that it was lost.
      const after = await readBatch(session, id);
      if (after.kind === "none") await records.remove(place);
      return after.kind !== "none";
    },
  };
}
