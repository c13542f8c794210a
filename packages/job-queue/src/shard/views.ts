/** What a shard answers. */
import type { BlobRef } from "../blobs.ts";
import type { Unreadable } from "../owner/salvage.ts";
import type { JobEvent, RunOutcome } from "../records.ts";
import type { TenantUsage } from "../memory/usage.ts";
import type { State } from "../states.ts";
import type { Status } from "./statuses.ts";

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
  /** Null: the answer would be too large. QueryJob tells it, until the parent ends. */
  readonly data: string | null;
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
  /** Changes with every write; missing for a job that is gone. */
  readonly version?: number;
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
  /** Its record cannot be read: what is shown is what could be saved of it. */
  readonly unreadable: Unreadable | null;
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
  /** `usage`: of a peer of an older version there is none. */
  | { readonly kind: "counts"; readonly types: readonly TypeCounts[]; readonly usage?: readonly TenantUsage[] }
  | { readonly kind: "block"; readonly first: number; readonly last: number }
  | { readonly kind: "lost" | "released"; readonly ids: readonly number[] }
  /** Jobs that are gone, and have run. For the owner alone: it removes what is known of their runs. */
  | { readonly kind: "deleted"; readonly ids: readonly number[] };

export interface Reply {
  readonly status: Status;
  readonly content: Content;
}

const NOTHING: Content = { kind: "none" };
export const reply = (status: Status, content: Content = NOTHING): Reply => ({ status, content });
