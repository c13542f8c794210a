/** Where runs that have ended are kept for good, when they have left the tree. */
import type { Done } from "./records.ts";

export interface EndedRun {
  readonly id: number;
  readonly token: string;
  readonly done: Done;
}

export interface RunArchive {
  /** Durable when it returns. `mayBeThere`: an owner that died may have kept some of them already. */
  keep(shard: number, runs: readonly EndedRun[], mayBeThere: boolean): Promise<void>;
  /** Of one job, those that were kept last first; not more than so many. */
  runsOf(id: number, most: number): Promise<readonly EndedRun[]>;
  /** Those that were kept last first. A page may be short, or empty, and yet have a next. */
  list(shard: number, asked: RunsAsked): Promise<RunPage>;
  /** No run of these jobs is left when it returns. */
  forget(shard: number, ids: ReadonlySet<number>): Promise<void>;
  /** What is kept from now on is news to who asks with this `since`. */
  head(shard: number): string;
}

export interface RunsAsked {
  readonly tenant: string;
  /** Only these types; null for all. */
  readonly names: readonly string[] | null;
  /** The `next` of the page before. */
  readonly after: string | null;
  readonly since: string;
  readonly limit: number;
}

export interface KeptRun {
  readonly run: EndedRun;
  /** It was kept after `since`. */
  readonly isNews: boolean;
}

export interface RunPage {
  readonly runs: readonly KeptRun[];
  readonly next: string | null;
}
