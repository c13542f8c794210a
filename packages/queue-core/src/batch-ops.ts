/** Each change of a batch as the list of ops of one multi. Pure. /fleet/batches/STATE/BID moves with every one of them. */
import type { Op } from "@sluice/zookeeper";
import type { BatchLease } from "./batch.ts";
import type { BatchId, BatchUuid, JobId } from "./ids.ts";
import { createOp, deleteOp, setOp } from "./job-ops.ts";
import { paths } from "./paths.ts";
import { type BatchStatus, type Expansion, type Lock, records, type StatusReport, type Submission } from "./records.ts";
import { type BatchState, type Bucket, BUCKETS } from "./states.ts";

export interface NewBatch {
  readonly id: BatchId;
  readonly uuid: BatchUuid;
  readonly submission: Submission;
  readonly status: BatchStatus;
}

/** A batch is whole from its first zxid. The UUID node comes first: it is the key that refuses a second creation. */
export function createBatchOps({ id, uuid, submission, status }: NewBatch): readonly Op[] {
  return [
    createOp(paths.batchUuid(uuid), records.bid.encode(id)),
    createOp(paths.batch(id)),
    createOp(paths.batchSubmission(id), records.submission.encode(submission)),
    createOp(paths.batchStatus(id), records.batchStatus.encode(status)),
    createOp(paths.batchStates(id)),
    ...BUCKETS.map((bucket) => createOp(paths.bucket(id, bucket))),
    createOp(paths.fleetBatch(status.status, id)),
  ];
}

const claimedBy = ({ token }: BatchLease, { owner: worker }: Lock): Buffer =>
  records.batchClaim.encode({ worker, token });

export function claimBatchOps(lease: BatchLease, lock: Lock): readonly Op[] {
  return [
    setOp(paths.fleetBatch(lease.state, lease.id), claimedBy(lease, lock), lease.entryVersion - 1),
    { op: "create", path: paths.batchLock(lease.id), data: records.lock.encode(lock), ephemeral: true },
    setOp(paths.batchStatus(lease.id), lease.statusBytes, lease.token - 1),
  ];
}

export const releaseBatchOps = (lease: BatchLease, counted: boolean): readonly Op[] => [
  setOp(paths.batchStatus(lease.id), lease.statusBytes, lease.token),
  ...(counted
    ? []
    : [
        deleteOp(paths.fleetBatch(lease.state, lease.id), lease.entryVersion),
        createOp(paths.fleetBatch(lease.state, lease.id)),
      ]),
  deleteOp(paths.batchLock(lease.id)),
];

export interface BatchMoveOf {
  readonly id: BatchId;
  readonly from: BatchState;
  readonly status: BatchStatus;
  readonly statusVersion: number;
  readonly entryVersion: number;
}

/** Status and index entry go together, always. */
export const moveBatchOps = (move: BatchMoveOf): readonly Op[] => [
  setOp(paths.batchStatus(move.id), records.batchStatus.encode(move.status), move.statusVersion),
  deleteOp(paths.fleetBatch(move.from, move.id), move.entryVersion),
  createOp(paths.fleetBatch(move.status.status, move.id)),
];

/** The end of an owner's multi; deleting the lock is the proof that it still stood. */
export const unlockBatchOp = (id: BatchId): Op => deleteOp(paths.batchLock(id));

export function expansionOp(id: BatchId, expansion: Expansion, version: number | null): Op {
  const data = records.expansion.encode(expansion);
  return version === null ? createOp(paths.expansion(id), data) : setOp(paths.expansion(id), data, version);
}

/**
 * The gate: ZooKeeper refuses to delete a directory that has children, so a multi that deletes and re-creates a bucket
 * proves that it was empty in that very transaction.
 */
export const gateOps = (id: BatchId, bucket: Bucket): readonly Op[] => [
  deleteOp(paths.bucket(id, bucket)),
  createOp(paths.bucket(id, bucket)),
];

/** Proof that a named job failed, in the transaction that says so. */
export const failedProofOp = (id: BatchId, job: JobId): Op => ({
  op: "check",
  path: paths.bucketEntry(id, "batch-failed", job),
});

export function reportOp(id: BatchId, report: StatusReport, version: number | null): Op {
  const data = records.statusReport.encode(report);
  return version === null ? createOp(paths.batchReport(id), data) : setOp(paths.batchReport(id), data, version);
}
