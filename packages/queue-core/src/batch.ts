import type { ErrorCode } from "./errors.ts";
import type { BatchId } from "./ids.ts";
import type {
  BatchStatus,
  Expansion,
  Identifiers,
  JobConfiguration,
  Metadata,
  StatusReport,
  Submission,
} from "./records.ts";
import type { BatchState } from "./states.ts";

/** The right to work on one batch; the same fence as a job's lease. */
export interface BatchLease {
  readonly id: BatchId;
  readonly state: BatchState;
  readonly claim: string;
  /** The version that the claim gave the batch's status node. */
  readonly token: number;
  readonly statusBytes: Buffer;
  /**
   * Version of /fleet/batches/STATE/BID. Every claim writes that node once, and an uncounted release makes it
   * anew: its version counts the attempts that failed or died, in a tree in which a batch has no history of its own.
   */
  readonly entryVersion: number;
  /** Who had it in hand before and was lost with it; null: nobody. */
  readonly lostWorker: string | null;
}

/** A batch as its handler sees it. */
export interface Batch {
  readonly id: BatchId;
  readonly state: BatchState;
  /** 1 for the first attempt in this state. */
  readonly attempt: number;
  readonly status: BatchStatus;
  readonly submission: Submission;
  /** null until the batch is started. */
  readonly expansion: Expansion | null;
  /** The last report, if there was one. */
  readonly report: StatusReport | null;
}

export interface LoadedBatch {
  readonly lease: BatchLease;
  readonly batch: Batch;
  readonly expansionVersion: number | null;
  readonly reportVersion: number | null;
  /** Directories for its jobs that are not there, parents first: made when it starts, or fails. */
  readonly missing?: readonly string[];
}

export type BatchClaimResult =
  | { readonly kind: "acquired"; readonly loaded: LoadedBatch }
  | { readonly kind: "held" }
  | { readonly kind: "gone" }
  | { readonly kind: "broken"; readonly problem: string }
  | { readonly kind: "lost"; readonly detail: string };

/** One object of a batch: what becomes a job. */
export interface JobSpec {
  readonly priority: number;
  /** `batch_id`, `jobID` and `working_dir` are filled in when the job gets its number. */
  readonly configuration: JobConfiguration;
  readonly identifiers: Identifiers | null;
  readonly metadata: Metadata | null;
}

/** How a worker leaves a batch. */
export type BatchEnding =
  /** Pending: validated and frozen, `rows` jobs are to be made. */
  | { readonly kind: "start"; readonly rows: number; readonly digest: string }
  /** Pending: its collection is held. */
  | { readonly kind: "park"; readonly why: string }
  /** Pending, or Processing before the first job: it cannot be expanded. */
  | { readonly kind: "fail"; readonly code: ErrorCode; readonly message: string }
  /** Reporting, UpdateReporting: the depositor was told this. */
  | { readonly kind: "verdict"; readonly report: StatusReport }
  /** The state stays; somebody may claim the batch again. `counted` = as another attempt; else the count starts anew. */
  | { readonly kind: "release"; readonly counted?: true };

/** Where adding jobs to a batch can end. */
export type ExpandResult =
  | { readonly kind: "added"; readonly loaded: LoadedBatch }
  | { readonly kind: "fenced" }
  | { readonly kind: "lost" }
  | { readonly kind: "refused"; readonly detail: string };
