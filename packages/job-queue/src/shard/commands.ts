/** What can be asked of a shard, and what it answers. */
import type { BlobRef } from "../blobs.ts";
import type { LeaseKind } from "../limits.ts";
import type { Wanted } from "../memory/ready-index.ts";
import type { JobEvent, RunOutcome } from "../records.ts";
import type { State } from "../states.ts";
import type { GivenData } from "./data.ts";
import type { Status } from "./statuses.ts";

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
}

/** Who takes jobs, and so what we can see of them afterwards. */
export interface Caller {
  readonly kind: LeaseKind;
  /** "" for a caller that gives no name. */
  readonly worker: string;
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
  readonly data: GivenData;
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
  readonly verb: "QueryJob" | "DescribeJob" | "CancelJob" | "DeleteJob";
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
  | OneJob
  | { readonly verb: "CrashJobs"; readonly tenant: string; readonly names: readonly string[] }
  | { readonly verb: "ClearCrashed" | "ListCrashed"; readonly tenant: string }
  | RenewLeases
  | ListJobs
  | ListRuns
  /** By tenant, type and state; null: of all tenants of the shard. */
  | { readonly verb: "CountJobs"; readonly tenant: string | null }
  | ReleaseWorker
  | ReserveIds
  | IngestAdds
  /** Time has passed: leases lapse, what is left over is swept. */
  | { readonly verb: "Tick" };

/** A job as the answers show it. `data` and `parentData` are JSON text. */
export interface JobView {
  readonly jobID: number;
  readonly name: string;
  readonly data: string;
  /** The data stands in the store of blobs; `data` has only the keys that are ours. */
  readonly dataRef?: BlobRef;
  readonly retryAfter: string;
  readonly created: string;
  readonly repeat: string;
  readonly lastRun: string;
  readonly nextRun: string;
  readonly priority: number;
}

export interface StateView extends JobView {
  readonly state: string;
}

/** A job in a list. */
export interface ListedView extends StateView {
  readonly owner: string;
  readonly step: string;
}

export interface ChildView {
  readonly jobID: number;
  readonly data: string;
  readonly dataRef?: BlobRef;
}

export interface TakenView extends JobView {
  readonly parentJobID?: number;
  readonly parentData?: string;
  readonly parentDataRef?: BlobRef;
  readonly finishedChildJobs?: readonly ChildView[];
  readonly cancelledChildJobs?: readonly ChildView[];
}

export interface Taken {
  readonly view: TakenView;
  readonly token: string;
}

/** A run that has ended. Times are ms. */
export interface RunView {
  readonly jobID: number;
  readonly tenant: string;
  readonly name: string;
  readonly lease: string;
  readonly worker: string;
  readonly outcome: RunOutcome;
  readonly exit: number | null;
  readonly result: string | null;
  readonly resultRef: BlobRef | null;
  readonly created: number;
  readonly started: number | null;
  readonly ended: number;
}

/** All that is known of a job, also when only its runs are left of it. Times are ms. */
export interface JobRecord {
  readonly jobID: number;
  readonly tenant: string;
  readonly name: string;
  /** Of one that is gone: how its last run ended. */
  readonly state: State;
  /** The worker that has it, or had it at its end; "" for nobody, or one without a name. */
  readonly owner: string;
  readonly step: string;
  /** [when, what, by whom?], oldest first. */
  readonly events: readonly JobEvent[];
  /** JSON text. */
  readonly data: string;
  readonly dataRef: BlobRef | null;
  readonly priority: number;
  readonly repeat: string;
  readonly retryAfter: string;
  readonly parent: number | null;
  readonly children: readonly number[];
  readonly unique: boolean;
  readonly mock: boolean;
  readonly created: number;
  readonly lastRun: number | null;
  readonly nextRun: number | null;
  readonly reoffers: number;
  readonly retryAfterCount: number;
  readonly maxRunTime: number | null;
  readonly onFinish: string | null;
  /** Of its last run that has ended. */
  readonly exit: number | null;
  readonly result: string | null;
  readonly resultRef: BlobRef | null;
  /** Newest first. */
  readonly runs: readonly RunView[];
}

/** The jobs of one type. Mocked ones are not counted. */
export interface TypeCounts {
  readonly tenant: string;
  readonly name: string;
  readonly states: Readonly<Partial<Record<State, number>>>;
  /** How many could run now. */
  readonly ready: number;
  /** Since when the oldest of them could; null: none can. */
  readonly oldestDue: number | null;
}

export type Content =
  | { readonly kind: "none" }
  | { readonly kind: "ids"; readonly ids: readonly number[]; readonly single: boolean }
  | { readonly kind: "taken"; readonly jobs: readonly Taken[]; readonly single: boolean }
  | { readonly kind: "job"; readonly job: StateView }
  | { readonly kind: "record"; readonly record: JobRecord }
  /** `next`: what leads on, as `after`; null: that was all. */
  | { readonly kind: "list"; readonly jobs: readonly ListedView[]; readonly next: number | null }
  | { readonly kind: "runs"; readonly runs: readonly RunView[]; readonly next: string | null }
  /** Patterns of names. */
  | { readonly kind: "crashed"; readonly names: readonly string[] }
  | { readonly kind: "counts"; readonly types: readonly TypeCounts[] }
  | { readonly kind: "block"; readonly first: number; readonly last: number }
  | { readonly kind: "lost" | "released"; readonly ids: readonly number[] };

export interface Reply {
  readonly status: Status;
  readonly content: Content;
}

const NOTHING: Content = { kind: "none" };
export const reply = (status: Status, content: Content = NOTHING): Reply => ({ status, content });
