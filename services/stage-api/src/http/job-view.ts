/** A job as callers see it. */
import type { Job } from "@sluice/queue-core";
import type { ObjectLockName } from "@sluice/stage-runtime";
import type { JobChanges } from "@sluice/queue-core";
import type { ObjectLock, StageChanges, StageJob } from "@sluice/wire";

export const jobView = (job: Job): StageJob => ({
  id: job.id,
  uuid: job.uuid,
  batch_id: job.batchId,
  state: job.state,
  attempt: job.attempt,
  retry_count: job.retryCount,
  last_successful: job.lastSuccessful,
  entered_at: job.enteredAt,
  message: job.message,
  priority: job.priority,
  space_needed: job.spaceNeeded,
  configuration: job.configuration,
  identifiers: job.identifiers,
  metadata: job.metadata,
  inventory: job.inventory,
  files: job.files,
  fence: job.claim,
});

/** Absent ones are left out: the compiler, and the tree, know the difference. */
export function changesOf(sent: StageChanges): JobChanges {
  const { identifiers, metadata, inventory, space_needed, priority_delta, keep_files, message } = sent;
  return {
    ...(identifiers === undefined ? {} : { identifiers }),
    ...(metadata === undefined ? {} : { metadata: fullMetadata(metadata) }),
    ...(inventory === undefined ? {} : { inventory }),
    ...(space_needed === undefined ? {} : { spaceNeeded: space_needed }),
    ...(priority_delta === undefined ? {} : { priorityDelta: priority_delta }),
    ...(keep_files === undefined ? {} : { keepFiles: keep_files }),
    ...(message === undefined ? {} : { message }),
  };
}

const fullMetadata = (metadata: NonNullable<StageChanges["metadata"]>): NonNullable<JobChanges["metadata"]> => ({
  ...metadata,
  erc_who: metadata.erc_who,
  erc_what: metadata.erc_what,
  erc_when: metadata.erc_when,
  erc_where: metadata.erc_where,
});

export const lockNameOf = (lock: ObjectLock): ObjectLockName =>
  lock.kind === "localid"
    ? { kind: lock.kind, localId: lock.local_id, ownerArk: lock.owner_ark }
    : { kind: lock.kind, ark: lock.ark };
