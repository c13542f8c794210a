/** Where runs that have ended are kept for good, when they have left the tree. */
import type { Done } from "./records.ts";

export interface EndedRun {
  readonly id: number;
  readonly token: string;
  readonly done: Done;
}

/** How a shard's archive is read: the runs of one job stand in the file of the job's block, which follows from its id. */
export interface RunArchive {
  /** Durable when it returns. It may be given the same runs again: who reads sees each once. */
  keep(shard: number, runs: readonly EndedRun[]): Promise<void>;
  /** Of one job, in any order. */
  runsOf(id: number): Promise<readonly EndedRun[]>;
  /** Newest blocks first; `after` is the `next` of the page before. A page may be short, or empty, and yet have a next. */
  list(shard: number, after: string | null, limit: number): Promise<RunPage>;
}

export interface RunPage {
  readonly runs: readonly EndedRun[];
  readonly next: string | null;
}
