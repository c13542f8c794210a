/**
 * A record of each batch that was accepted, beside the files and before the depositor is answered: should ZooKeeper be lost
 * and put back to an older state, the batch is made again from it (docs/adr/0058-accepted-submissions-leave-a-record.md).
 */
import {
  type BatchPlace,
  type BatchState,
  type BatchUuid,
  findBatch,
  parseBatchUuid,
  placeOfBatch,
  readBatch,
} from "@sluice/queue-core";
import type { IoFault } from "@sluice/safe-io";
import type { AcceptedBatch, AcceptedBatches } from "@sluice/working-folder";
import type { Session } from "@sluice/zookeeper";

export interface KeepAccepted {
  /** On disk when it answers, if the disk takes it: the batch stands in the queue either way, and is not refused for this. */
  readonly now: (accepted: AcceptedBatch) => Promise<void>;
  /** Of a batch in the queue that is not over. Answers whether one had to be written. */
  readonly ifMissing: (session: Session, uuid: BatchUuid) => Promise<boolean>;
  /** What was accepted under this name before; null: nothing that we know of. */
  readonly before: (uuid: BatchUuid) => Promise<AcceptedBatch | null>;
  /** Its folder is there, with what came with the submission. */
  readonly hasUploads: (place: BatchPlace) => Promise<boolean>;
}

/** Clean-up takes away the records of these. */
const OVER: readonly BatchState[] = ["Completed", "Deleted"];

export type OnUnkept = (accepted: AcceptedBatch, fault: IoFault) => void;

export function keepAcceptedIn(
  records: AcceptedBatches,
  hasUploads: KeepAccepted["hasUploads"],
  onUnkept: OnUnkept,
): KeepAccepted {
  const now: KeepAccepted["now"] = async (accepted) => {
    const put = await records.put(accepted);
    if (!put.ok) onUnkept(accepted, put.error);
  };
  return {
    now,
    hasUploads,
    async before(uuid) {
      const read = await records.read(uuid);
      return read.kind === "found" ? read.accepted : null;
    },
    async ifMissing(session, uuid) {
      if (await records.has(uuid)) return false;
      const id = await findBatch({ session }, uuid);
      const batch = id === null ? null : await readBatch(session, id);
      if (batch?.kind !== "found" || parseBatchUuid(batch.value.submission.batchID ?? "") !== uuid) return false;
      const { submission, status } = batch.value;
      if (OVER.includes(status.status)) return false;
      await now({ uuid, place: placeOfBatch(batch.value), submission });
      // Cleaned up meanwhile: a record without a batch would say that it was lost.
      const after = await readBatch(session, batch.value.id);
      if (after.kind === "none") await records.remove(uuid);
      return after.kind !== "none";
    },
  };
}
