/** What CDL's libraries left in the tree, as plain facts for a planner that reads nothing itself. */
import type { BatchId, BatchState, Bucket, JobId } from "@sluice/queue-core";

export interface OldNode {
  readonly data: Buffer;
  readonly version: number;
}

export interface OldJob {
  readonly id: JobId;
  /** When its node was made: tells this job from another one under the same number. */
  readonly czxid: bigint;
  /** What stands below it, by name, without its lock. */
  readonly nodes: ReadonlyMap<string, OldNode>;
  /** A lock that no session owns: left by a client that made it persistent. */
  readonly deadLock: OldNode | null;
  /** Paths of its entries in the queues, the one of Storing too. */
  readonly entries: readonly string[];
  readonly buckets: readonly { readonly batch: BatchId; readonly bucket: Bucket }[];
}

export interface OldBatch {
  readonly id: BatchId;
  readonly czxid: bigint;
  readonly nodes: ReadonlyMap<string, OldNode>;
  readonly deadLock: OldNode | null;
  /** Those that are there: the libraries make each when it is first needed. */
  readonly buckets: ReadonlySet<Bucket>;
  readonly hasStates: boolean;
  /** Names in /batch-uuids that lead here. */
  readonly uuids: readonly string[];
}

export interface OldTree {
  readonly batches: readonly OldBatch[];
  readonly jobs: readonly OldJob[];
  /** The libraries of this tree know the state Storing: `Processing` then does not mean that anything was stored. */
  readonly knowsStoring: boolean;
  /** Holds of collections and the pause of the queue. */
  readonly holds: readonly { readonly path: string; readonly data: Buffer }[];
  /** Locks on objects that no session owns: the storage service's, after a crash. */
  readonly deadLocks: readonly { readonly path: string; readonly version: number }[];
  /** What live sessions own: somebody is at work. */
  readonly sessionsOwn: readonly string[];
  /** Above every number that this tree has given or will give. */
  readonly nextBatch: number;
  readonly nextJob: number;
  /** Parts that are no part of the queue (`/access`, `/migration`). */
  readonly others: readonly string[];
}

/** What stands under /fleet of one batch. Its place in an index alone says nothing: not only an import writes there. */
export interface TargetBatch {
  readonly entries: readonly { readonly state: BatchState; readonly version: number }[];
  readonly isExpanded: boolean;
  readonly isDue: boolean;
}

/** What the tree that it goes to holds of ours already. */
export interface TargetFacts {
  /** By job: the op that its history began with; "" when it cannot be read. */
  readonly jobs: ReadonlyMap<JobId, string>;
  /** Names under which jobs that were imported are found. */
  readonly jobNames: ReadonlySet<string>;
  /** Jobs that stand there in whatever form. */
  readonly takenJobs: ReadonlySet<JobId>;
  /** Batches that something under /fleet names. */
  readonly batches: ReadonlyMap<BatchId, TargetBatch>;
  /** Batches that stand there, with the UUID that their submission names. */
  readonly takenBatches: ReadonlyMap<BatchId, string>;
}
