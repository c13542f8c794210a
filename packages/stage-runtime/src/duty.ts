/**
 * A service is a list of duties. One engine runs them all:
 * candidates → admit? → claim → handle → settle.
 */
import type {
  Batch,
  BatchState,
  ExpandResult,
  Job,
  JobChanges,
  JobSpec,
  JobState,
  LoadedBatch,
  QueueContext,
} from "@sluice/queue-core";
import type { Clock } from "@sluice/zookeeper";
import type { Log } from "./log.ts";
import type { BatchOutcome, InboxOutcome, Outcome } from "./outcome.ts";

/** What every handler is given. It sees no ZooKeeper, no process and no clock but this one. */
export interface HandlerContext {
  /** Aborts when the session is lost or the grace period is over: stop, touch nothing more. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Ids of the job or batch are already bound to it. */
  readonly log: Log;
  /** A named place where tests make the process die, stop or lose an answer; free when none is set. */
  readonly failpoint: (step: string) => Promise<void>;
}

export interface JobContext extends HandlerContext {
  /**
   * Writes a finding down before anything depends on it (an ARK, say), fenced by the claim. False = the job is no
   * longer ours: stop.
   */
  readonly record: (changes: JobChanges) => Promise<boolean>;
  /** Takes per-object locks for the rest of this attempt, all or none; false = busy: snooze. They go when the job is settled. */
  readonly lockObjects: (locks: readonly ObjectLockName[]) => Promise<boolean>;
  /** The random id of this claim. With it the job's history tells any process later what became of it (`endOfClaim`). */
  readonly claimId: string;
  /** Shows how far the work is, to people, for as long as it runs. */
  readonly progress: (progress: Progress) => void;
}

export interface Progress {
  readonly doneBytes: number;
  readonly totalBytes: number | null;
  readonly note?: string;
}

export type ObjectLockName =
  | { readonly kind: "storage"; readonly ark: string }
  | { readonly kind: "inventory"; readonly ark: string }
  | { readonly kind: "localid"; readonly localId: string; readonly ownerArk: string };

export interface JobStage {
  readonly kind: "job-stage";
  readonly takes: JobState;
  handle(job: Job, ctx: JobContext): Promise<Outcome>;
  /** Decides by reads which of the waiting jobs may go on now; without it all may. Only admitted ones are claimed. */
  readonly admit?: Admission;
  /** How many jobs it can have in hand, where that changes (its workers are elsewhere); without it STAGE_CONCURRENCY. */
  readonly places?: Places;
  /** Told how each job left this process, after `handle` has returned. */
  settled?(job: Job, how: Settled): void;
}

export interface Places {
  /** Those in hand included. */
  readonly count: () => number;
  readonly onMore: (listener: () => void) => void;
}

export interface Settled {
  readonly claimId: string;
  /** `lost`: what the handler said does not count. */
  readonly as: "done" | "park" | "retry" | "snooze" | "fail" | "quarantine" | "handback" | "lost";
  /** Where the job is now; null = as it was, or not known. */
  readonly to: JobState | null;
  /** "" = done. */
  readonly why: string;
}

/** All jobs waiting in the stage, with the size they need; see the provisioner. */
export interface AdmissionCandidate {
  readonly id: Job["id"];
  /** The smaller the sooner. That of a job which has waited for over a day is below all others: nothing starves. */
  readonly priority: number;
  /** How many of its collection and priority come before it: with equal priority the smaller goes first, then the older. */
  readonly turn?: number;
  readonly spaceNeeded: number;
  readonly resource: string | undefined;
  /** Since when it waits here, by the server's clock, if that is for over a day: the room it lacks is to be kept for it. */
  readonly overdueSinceMs?: number;
}

/** What admitted jobs of the whole fleet still need, from the tree. */
export interface Promised {
  readonly bytes: number;
  /** Of these, what failed jobs have: it does not come free before somebody acts. */
  readonly failedBytes: number;
  /** Admitted jobs that need nobody knows how much. */
  readonly unknownJobs: number;
}

export interface Admission {
  /** Reads what the decision needs besides the candidates (the volume's size and free bytes). */
  readonly survey: () => Promise<Survey>;
  /** Pure. */
  readonly decide: (candidates: readonly AdmissionCandidate[], promised: Promised, survey: Survey) => AdmissionVerdicts;
}

export interface Survey {
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** Of what is used: uploads, which stay until their batch is cleaned up, beside what is promised to its jobs. */
  readonly uploadedBytes: number;
}

/**
 * What a job waits for: "room" = its share of the volume is taken; "kept-room" = it is overdue, and what comes free is kept for
 * it; "turn" = room is kept for another; "clearing" = it is overdue, and jobs under way do not leave enough: somebody has to
 * clear up; "larger-volume" = the volume could not hold it if it were empty.
 */
export const WAITS_FOR = ["room", "kept-room", "turn", "clearing", "larger-volume"] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

/** By job: admitted, or why it waits. */
export type AdmissionVerdicts = ReadonlyMap<
  Job["id"],
  { readonly admit: true } | { readonly admit: false; readonly waitsFor: WaitsFor; readonly why: string }
>;

export interface BatchContext extends HandlerContext {
  /** The batch as it is now; `addJobs` hands out its successor. */
  readonly loaded: LoadedBatch;
  /** Makes jobs for the next rows of the manifest, in one multi that moves the cursor. */
  readonly addJobs: (loaded: LoadedBatch, specs: readonly JobSpec[]) => Promise<ExpandResult>;
  /** True while expansion must wait: the queue is paused, or a state directory is near its bound. */
  readonly expansionMustWait: () => Promise<string | null>;
}

export interface BatchStage {
  readonly kind: "batch-stage";
  readonly takes: BatchState;
  /** Which batches of that state have something to do (a Processing batch is only expanded while rows are left). */
  readonly wants?: (batch: Pick<Batch, "state" | "expansion">) => boolean;
  /**
   * Of a stage that expands batches: why those of this collection must wait, null if they need not. Asked before a batch is
   * claimed, after the queue itself was found open.
   */
  readonly mustWait?: (profile: string) => Promise<string | null>;
  handle(batch: Batch, ctx: BatchContext): Promise<BatchOutcome>;
}

/** Items left in a directory for somebody to act upon once (callbacks, due batches). */
export interface Inbox {
  readonly kind: "inbox";
  readonly name: string;
  readonly path: string;
  /** Whether an item is locked while it is handled; items whose handling is one atomic move need no lock. */
  readonly exclusive: boolean;
  /** False for what operators order: a pause of the queue does not stop it. */
  readonly pausable?: boolean;
  handle(item: InboxItem, ctx: InboxContext): Promise<InboxOutcome>;
}

export interface InboxItem {
  readonly name: string;
  readonly data: Buffer;
}

export interface InboxContext extends HandlerContext {
  readonly queue: QueueContext;
  /**
   * Writes the item anew before anything depends on it. False: it is not known to have been written, or somebody else has
   * changed it; look again.
   */
  readonly rewrite: (data: Buffer) => Promise<boolean>;
}

/** Work without a lock: idempotent, repeated, done by one replica at a time. */
export interface Sweep {
  readonly kind: "sweep";
  readonly name: string;
  readonly everyMs: number;
  /** After so long its signal aborts; default: a quarter of an hour. What is left is for the next run. */
  readonly deadlineMs?: number;
  run(ctx: SweepContext): Promise<void>;
}

export interface SweepContext extends HandlerContext {
  readonly queue: QueueContext;
  /** This worker's name in events. */
  readonly worker: string;
}

export type Duty = JobStage | BatchStage | Inbox | Sweep;
