/**
 * What owners have written, kept beside the tree: with it a tree that is put back to an older snapshot gets the queue as it
 * was at the disaster (docs/adr/0059-the-job-queue-is-written-twice.md).
 */
import type { Op } from "@sluice/zookeeper";

/** One transaction of a term that is in the tree. */
export interface AppliedTransaction {
  readonly shard: number;
  readonly term: number;
  /** Counted from 0 in its term. */
  readonly number: number;
  /** Its own, or a later one before which everything is listed. */
  readonly zxid: bigint;
  /** Without what fences it. */
  readonly ops: readonly Op[];
}

export interface RedoLog {
  /** Answers when it is on disk, or when nobody should wait for it any more; in the order of the asking. Never rejects. */
  keep(transaction: AppliedTransaction): Promise<void>;
}
