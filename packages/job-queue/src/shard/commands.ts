/** What can be asked of a shard. */
import type { BlobRef } from "../blobs.ts";
import type { State } from "../states.ts";
import type { LeaseKind } from "../limits.ts";
import type { Wanted } from "../memory/ready-index.ts";
import type { ContainerPhase } from "./container-states.ts";
import type { GivenData } from "./data.ts";

export interface NewJob {
  readonly name: string;
  readonly data: GivenData;
  /** Null if the caller gave none. */
  readonly priority: number | null;
  readonly unique: boolean;
  readonly overwrite: boolean;
  readonly parent: number | null;
  readonly firstRun: number | null;
  readonly repeat: string | null;
  readonly retryAfter: string | null;
  readonly mock: boolean;
  readonly maxRunTime: number | null;
  /** The type of the job that is made of this one's result when it has ended well. */
  readonly onFinish: string | null;
  /** Its caller may make jobs of the fleet with something sealed in them. Doors set it; nothing that a caller sends does. */
  readonly seals?: true;
}

/** Who takes jobs, and so what we can see of them afterwards. */
export interface Caller {
  readonly kind: LeaseKind;
  /** "" for a caller that gives no name. */
  readonly worker: string;
  /** The name is the caller's own, not its connection's. */
  readonly isNamed?: true;
}

interface OfTenant {
  readonly tenant: string;
}

interface OfJob extends OfTenant {
  readonly id: number;
}

/** `lease`: the token that came with the job; null from a caller that does not know it. */
interface OfHolder extends OfJob {
  readonly lease: string | null;
  /** The caller's name, if it gives one. */
  readonly worker?: string;
  /**
   * The caller did not show the token, its connection remembers it: a run that somebody else has ended with that token is
   * no end of theirs.
   */
  readonly remembered?: boolean;
  readonly data: GivenData | null;
}

export interface CreateJobs extends OfTenant {
  readonly verb: "CreateJobs";
  readonly jobs: readonly NewJob[];
  /** CreateJob: the answer has one id. */
  readonly single: boolean;
}

export interface GetJobs {
  readonly verb: "GetJobs";
  readonly wanted: Wanted;
  readonly limit: number;
  readonly single: boolean;
  readonly caller: Caller;
  /** How long it may stay silent; null for the usual time. */
  readonly leaseMs: number | null;
}

export interface UpdateJob extends OfJob {
  readonly verb: "UpdateJob";
  /** Null: they stay as they are. */
  readonly data: GivenData | null;
  readonly lease: string | null;
  readonly repeat: string | null;
  readonly clearRepeat: boolean;
  readonly nextRun: number | null;
  readonly priority: number | null;
  readonly step: string | null;
}

/** How a run went, in its holder's words. A large result stands in the store of blobs already. */
export interface RunEnd {
  readonly exit: number | null;
  readonly result: string | BlobRef | null;
  /** Jobs that the run asked for: made with its end, or not at all. */
  readonly then?: readonly NewJob[];
}

export interface FinishJob extends OfHolder, RunEnd {
  readonly verb: "FinishJob";
  /** The type that its result is left to, if the job itself names none: its handler's. */
  readonly onFinish?: string;
}

export interface RetryJob extends OfHolder, RunEnd {
  readonly verb: "RetryJob";
  readonly nextRun: number | null;
  /** Seconds. */
  readonly delay: number;
  readonly name: string | null;
  readonly priority: number | null;
  readonly ignoreRepeat: boolean;
}

export interface FailJob extends OfHolder, RunEnd {
  readonly verb: "FailJob";
}

/** A container job becomes what its caller says, if it is as the caller read it: the etcd document's compare-and-swap. */
export interface SwapJob extends OfJob {
  readonly verb: "SwapJob";
  /** Of its record, as DescribeJob told it. */
  readonly version: number;
  /** What it was when it was read, and what it becomes. */
  readonly from: ContainerPhase;
  readonly phase: ContainerPhase;
  /** The Owner of what it becomes; "" for none. */
  readonly worker: string;
  readonly data: GivenData;
  readonly step: string;
  readonly outcome: { readonly isWell: boolean; readonly info: string } | null;
  /** Of a claim: how long its worker may stay silent. */
  readonly leaseMs: number;
}

export interface RequeueJobs extends OfTenant {
  readonly verb: "RequeueJobs";
  readonly ids: readonly number[];
  readonly name: string | null;
  /** What was given and never arrived does not count. */
  readonly decrementFailures: boolean;
  /** Only those that carry one of these leases: what somebody else has by now stays theirs. Null: all. */
  readonly leases: readonly string[] | null;
}

export interface OneJob extends OfJob {
  readonly verb: "QueryJob" | "DescribeJob" | "CancelJob";
}

export interface DeleteJob extends OfJob {
  readonly verb: "DeleteJob";
  /** One that runs just now goes when its run has ended. */
  readonly afterRun?: true;
}

/** "I am still at it." The answer names those that are no longer the caller's. */
export interface RenewLeases extends OfTenant {
  readonly verb: "RenewLeases";
  readonly leases: readonly { readonly id: number; readonly token: string }[];
}

/** By id. The answer's `next`, given as `after`, leads on. */
export interface ListJobs extends OfTenant {
  readonly verb: "ListJobs";
  readonly states?: readonly State[];
  /** Names or patterns, one of which fits. */
  readonly names?: readonly string[];
  /** True: those with a schedule; false: those without. */
  readonly repeating?: boolean;
  readonly after?: number;
  readonly limit?: number;
}

/** Runs that have ended, newest first as far as one look shows: by the hour of their end, then by their beginning. */
export interface ListRuns extends OfTenant {
  readonly verb: "ListRuns";
  readonly names?: readonly string[];
  /** `next` of the answer before. */
  readonly after?: string;
  readonly limit: number;
}

/** Every job in this worker's hand goes back at once, as if all its leases had lapsed. */
export interface ReleaseWorker {
  readonly verb: "ReleaseWorker";
  readonly worker: string;
}

/** Jobs that nobody has ever taken although they have been due since before `before`: FAILED, with the reason. */
export interface ExpireJobs {
  readonly verb: "ExpireJobs";
  readonly before: number;
}

/** A block of ids for a process that accepts jobs in its journal while nobody owns the shard. */
export interface ReserveIds {
  readonly verb: "ReserveIds";
  readonly guest: string;
}

export interface JournalledJob {
  readonly id: number;
  readonly tenant: string;
  /** When it was accepted. */
  readonly at: number;
  readonly job: NewJob;
}

/**
 * Lines of a journal. A guest uses its ids in increasing order; those at or below the last one that was taken in are
 * answered as done, whatever became of their jobs.
 */
export interface IngestAdds {
  readonly verb: "IngestAdds";
  readonly guest: string;
  /** How far its journal has been read with these jobs; kept for people. */
  readonly file: string;
  readonly offset: number;
  /** Refused while this id has not been taken in: several may be under way, and one that was lost must not be passed by. */
  readonly after: number;
  readonly jobs: readonly JournalledJob[];
}

export type Command =
  | CreateJobs
  | GetJobs
  | UpdateJob
  | FinishJob
  | RetryJob
  | FailJob
  | RequeueJobs
  | SwapJob
  | OneJob
  | DeleteJob
  | { readonly verb: "CrashJobs"; readonly tenant: string; readonly names: readonly string[] }
  | { readonly verb: "ClearCrashed" | "ListCrashed"; readonly tenant: string }
  | RenewLeases
  | ListJobs
  | ListRuns
  /** By tenant, type and state; null: of all tenants of the shard. */
  | { readonly verb: "CountJobs"; readonly tenant: string | null }
  | ReleaseWorker
  | ExpireJobs
  | ReserveIds
  | IngestAdds
  /** Time has passed: leases lapse, what is left over is swept. */
  | { readonly verb: "Tick" };
