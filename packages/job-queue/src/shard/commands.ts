/** What can be asked of a shard, and what it answers. */
import type { LeaseKind } from "../limits.ts";
import type { Wanted } from "../memory/ready-index.ts";
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

export interface FinishJob extends OfHolder {
  readonly verb: "FinishJob";
  readonly exit: number | null;
  readonly result: string | null;
}

export interface RetryJob extends OfHolder {
  readonly verb: "RetryJob";
  readonly nextRun: number | null;
  /** Seconds. */
  readonly delay: number;
  readonly name: string | null;
  readonly priority: number | null;
  readonly ignoreRepeat: boolean;
}

export interface FailJob extends OfHolder {
  readonly verb: "FailJob";
}

export interface RequeueJobs extends OfTenant {
  readonly verb: "RequeueJobs";
  readonly ids: readonly number[];
  readonly name: string | null;
  /** What was given and never arrived does not count. */
  readonly decrementFailures: boolean;
}

export interface OneJob extends OfJob {
  readonly verb: "QueryJob" | "CancelJob" | "DeleteJob";
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
  | { readonly verb: "ClearCrashed"; readonly tenant: string }
  /** "I am still at it." The answer names those that are no longer the caller's. */
  | { readonly verb: "RenewLeases"; readonly leases: readonly { readonly id: number; readonly token: string }[] }
  | { readonly verb: "ListJobs"; readonly tenant: string }
  /** Time has passed: leases lapse, what is left over is swept. */
  | { readonly verb: "Tick" };

/** A job as the answers show it. `data` and `parentData` are JSON text. */
export interface JobView {
  readonly jobID: number;
  readonly name: string;
  readonly data: string;
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

export interface ChildView {
  readonly jobID: number;
  readonly data: string;
}

export interface TakenView extends JobView {
  readonly parentJobID?: number;
  readonly parentData?: string;
  readonly finishedChildJobs?: readonly ChildView[];
  readonly cancelledChildJobs?: readonly ChildView[];
}

export interface Taken {
  readonly view: TakenView;
  readonly token: string;
}

export type Content =
  | { readonly kind: "none" }
  | { readonly kind: "ids"; readonly ids: readonly number[]; readonly single: boolean }
  | { readonly kind: "taken"; readonly jobs: readonly Taken[]; readonly single: boolean }
  | { readonly kind: "job"; readonly job: StateView }
  | { readonly kind: "list"; readonly jobs: readonly StateView[] }
  | { readonly kind: "lost"; readonly ids: readonly number[] };

export interface Reply {
  readonly status: Status;
  readonly content: Content;
}

const NOTHING: Content = { kind: "none" };
export const reply = (status: Status, content: Content = NOTHING): Reply => ({ status, content });
