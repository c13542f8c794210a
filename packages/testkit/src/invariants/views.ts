/**
 * What the checker knows of a job, a batch and a session. A view is never changed, only replaced: the one from before a
 * transaction is still there when its rules are checked.
 */
import type {
  BatchId,
  BatchState,
  BatchStatus,
  Bucket,
  Expansion,
  JobId,
  JobState,
  JobStatus,
  Stage,
} from "@sluice/queue-core";
import type { Part } from "./parts.ts";

/** "operator": every session that registered no worker of a stage: people's tools, the console, the API. */
export type Role = Stage | "operator";

export interface LockView {
  /** Of the session; 0n for a lock that is not ephemeral and so never goes by itself. */
  readonly owner: bigint;
  readonly zxid: bigint;
  /** The version of the status after the owner's last write of it. */
  readonly token: number;
}

export interface JobView {
  readonly id: JobId;
  readonly exists: boolean;
  /** It was there once and was removed. */
  readonly removed: boolean;
  /** Names of the nodes below it. */
  readonly children: ReadonlySet<string>;
  /** null: missing, or not readable. */
  readonly status: JobStatus | null;
  readonly statusBytes: Buffer | null;
  readonly statusVersion: number;
  readonly priority: number | null;
  readonly batch: BatchId | null;
  readonly configuration: Buffer | null;
  readonly entries: readonly { readonly state: JobState; readonly priority: number }[];
  readonly buckets: readonly { readonly batch: BatchId; readonly bucket: Bucket }[];
  readonly lock: LockView | null;
  readonly history: Buffer | null;
}

export interface BatchView {
  readonly id: BatchId;
  readonly exists: boolean;
  readonly removed: boolean;
  readonly children: ReadonlySet<string>;
  readonly status: BatchStatus | null;
  readonly statusBytes: Buffer | null;
  readonly statusVersion: number;
  readonly submission: Buffer | null;
  readonly report: Buffer | null;
  readonly reportZxid: bigint;
  readonly lock: LockView | null;
  /** States under which /fleet/batches lists it. */
  readonly entries: readonly BatchState[];
  readonly uuids: readonly string[];
  readonly expansion: Expansion | null;
  /** Jobs ever made for it. */
  readonly made: number;
  /** Large, and so shared between views: always of now. */
  readonly buckets: Readonly<Record<Bucket, Set<JobId>>>;
}

const NONE: ReadonlySet<string> = new Set();

export const unknownJob = (id: JobId): JobView => ({
  id,
  exists: false,
  removed: false,
  children: NONE,
  status: null,
  statusBytes: null,
  statusVersion: -1,
  priority: null,
  batch: null,
  configuration: null,
  entries: [],
  buckets: [],
  lock: null,
  history: null,
});

export const unknownBatch = (id: BatchId): BatchView => ({
  id,
  exists: false,
  removed: false,
  children: NONE,
  status: null,
  statusBytes: null,
  statusVersion: -1,
  submission: null,
  report: null,
  reportZxid: 0n,
  lock: null,
  entries: [],
  uuids: [],
  expansion: null,
  made: 0,
  buckets: {
    "batch-processing": new Set(),
    "batch-failed": new Set(),
    "batch-completed": new Set(),
    "batch-deleted": new Set(),
  },
});

/** The transaction as the rules see it. */
export interface Author {
  readonly zxid: bigint;
  readonly session: bigint;
  readonly role: Role;
  /** Ids of jobs and batches on which it wrote an operator's action into the audit. */
  readonly audits: ReadonlySet<string>;
  /** Of orders for many that it carries on with: the jobs that each is for. */
  readonly orders: readonly ReadonlySet<string>[];
  /** Paths of the callbacks that it made. */
  readonly callbacks: ReadonlySet<string>;
}

export interface JobChange {
  readonly before: JobView;
  readonly after: JobView;
  /** Its batch, if it names one that was ever there. */
  readonly batch: BatchView | null;
  readonly batchBefore: BatchView | null;
  /** What of it the transaction wrote, were it the same bytes. */
  readonly wrote: ReadonlySet<Part>;
  readonly author: Author;
  readonly holds: ReadonlySet<string>;
}

export interface BatchChange {
  readonly before: BatchView;
  readonly after: BatchView;
  readonly wrote: ReadonlySet<Part>;
  readonly author: Author;
  readonly holds: ReadonlySet<string>;
}
