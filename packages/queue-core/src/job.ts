import type { Op } from "@sluice/zookeeper";
import type { ErrorCode } from "./errors.ts";
import type { BatchId, JobId, JobUuid } from "./ids.ts";
import type { QueueEntry } from "./paths.ts";
import type {
  CallbackBody,
  FleetJob,
  Identifiers,
  Inventory,
  JobConfiguration,
  JobStatus,
  Lock,
  Metadata,
} from "./records.ts";
import type { JobState } from "./states.ts";

/** A listed entry, looked at: everything a worker needs to decide whether to claim it, from one multiRead. */
export type Candidate =
  | ReadyCandidate
  /** `sinceMs` is the server's. */
  | { readonly kind: "locked"; readonly entry: QueueEntry; readonly lock: Lock | null; readonly sinceMs: number }
  | { readonly kind: "waiting"; readonly entry: QueueEntry; readonly readyAtMs: number; readonly why: string }
  /** The entry is a rumour: the job is elsewhere or no more. */
  | { readonly kind: "moved"; readonly entry: QueueEntry; readonly state: JobState; readonly statusVersion: number }
  | { readonly kind: "gone"; readonly entry: QueueEntry }
  /** A job without a history: Merritt's own, which was never imported. It and its entries are left alone. */
  | { readonly kind: "foreign"; readonly entry: QueueEntry }
  /** Written by one who had lost it, and led where no stage of its own leads: left alone until people have looked. */
  | { readonly kind: "overwritten"; readonly entry: QueueEntry; readonly problem: string }
  | { readonly kind: "broken"; readonly entry: QueueEntry; readonly problem: string };

export interface ReadyCandidate {
  readonly kind: "ready";
  readonly entry: QueueEntry;
  readonly state: JobState;
  readonly status: JobStatus;
  /** As read: a claim writes the same bytes back, so that a foreign writer's spelling survives. */
  readonly statusBytes: Buffer;
  readonly statusVersion: number;
  readonly fleetJob: FleetJob;
  /** null: it has none yet, the claim makes it. */
  readonly fleetJobVersion: number | null;
  /** What a library beside this fleet has done to it that its history does not say yet: the claim writes it down. */
  readonly beside?: { readonly kind: "made" } | { readonly kind: "moved"; readonly from: JobState };
  /** When it became ready, by the server's clock. */
  readonly readyAtMs: number;
}

/** The right to work on one job: worth exactly as long as its session, its lock and its token stand. */
export interface Lease {
  readonly id: JobId;
  readonly state: JobState;
  readonly claim: string;
  /** The version that the claim gave the status node. Whoever moves the job bumps it, and our commit is refused. */
  readonly token: number;
  /** The token of the claim before this one, in whichever stage; null = this is the first. */
  readonly lastToken: number | null;
  readonly priority: number;
  readonly status: JobStatus;
  readonly statusBytes: Buffer;
  readonly fleetJob: FleetJob;
  readonly fleetJobVersion: number;
  /** Who had it in hand before and was lost with it; null: nobody. */
  readonly lostWorker: string | null;
  /** How long the job had been ready when it was claimed. */
  readonly waitedMs: number;
}

export type ClaimResult =
  | { readonly kind: "acquired"; readonly lease: Lease }
  /** Somebody else was first. */
  | { readonly kind: "held" }
  /** It moved on between looking and claiming. */
  | { readonly kind: "gone" }
  /** The session is over, or the tree is not as it should be. */
  | { readonly kind: "lost"; readonly detail: string };

/**
 * One claim of a job, for good. Tokens are versions of a node, and a restored tree begins with new nodes: only together
 * with the epoch a token never comes again.
 */
export interface ClaimName {
  readonly epoch: number;
  readonly token: number;
}

/** A job as its handler sees it. */
export interface Job {
  readonly id: JobId;
  readonly uuid: JobUuid;
  readonly batchId: BatchId;
  /** In which the batch was made: part of its folder's name. */
  readonly batchEpoch: number;
  readonly state: JobState;
  /** 1 for the first attempt of this stage. */
  readonly attempt: number;
  readonly retryCount: number;
  readonly lastSuccessful: JobState | null;
  /** When it came into this state, as its status says. */
  readonly enteredAt: string;
  readonly message: string;
  readonly priority: number;
  readonly spaceNeeded: number;
  readonly configuration: JobConfiguration;
  readonly identifiers: Identifiers | null;
  readonly metadata: Metadata | null;
  readonly inventory: Inventory | null;
  /** What it is telling its depositor's system; absent before that was first written down. */
  readonly callbackBody?: CallbackBody;
  /** The claim whose files count; null before anything was kept. */
  readonly files: ClaimName | null;
  /** This claim: what it writes goes into a folder of this name. */
  readonly claim: ClaimName;
}

/** Versions of the nodes that a commit may change; null = not there yet. */
export interface JobVersions {
  readonly priority: number;
  readonly spaceNeeded: number;
  readonly identifiers: number | null;
  readonly metadata: number | null;
  readonly inventory: number | null;
  readonly callbackBody: number | null;
}

export interface LoadedJob {
  readonly lease: Lease;
  readonly job: Job;
  readonly versions: JobVersions;
}

/** What a stage has found out about its job, written in the multi that moves it. */
export interface JobChanges {
  readonly spaceNeeded?: number;
  /** Relative, because an operator may re-prioritise meanwhile; the sum is clamped to 00–99. */
  readonly priorityDelta?: number;
  readonly identifiers?: Identifiers;
  readonly metadata?: Metadata;
  readonly inventory?: Inventory;
  /** Kept until the job leaves its state. */
  readonly callbackBody?: CallbackBody;
  /** The files of this claim are the ones that count from now on. */
  readonly keepFiles?: true;
  readonly message?: string;
}

/** How a job leaves its stage. */
export type Ending =
  | { readonly kind: "done"; readonly changes: JobChanges }
  | { readonly kind: "park"; readonly why: string }
  | { readonly kind: "fail"; readonly code: ErrorCode; readonly message: string; readonly changes?: JobChanges }
  | { readonly kind: "quarantine"; readonly message: string };

/** Ops that must hold for the move to be allowed (holds not changed, space not given away); see Move.shared. */
export type Guard = readonly Op[];

export type CommitResult =
  | { readonly kind: "applied"; readonly to: JobState; readonly zxid: bigint | null }
  /** Another writer moved the job, or the lock is gone: what we did must not count. */
  | { readonly kind: "fenced" }
  /** The guard no longer holds: look again and decide anew; the lease still stands. */
  | { readonly kind: "guarded" }
  /** The session is over: dropped, never resolved elsewhere. */
  | { readonly kind: "lost" }
  /** The tree or the move is not as it should be: `detail` says how. The lease still stands. */
  | { readonly kind: "refused"; readonly detail: string };
