/** What the journal says and asks for. */

export interface JournalOptions {
  /** Of this journal alone; made if it is not there. */
  readonly folder: string;
  /** Bounds of what waits to be consumed. On disk there may be one segment more. */
  readonly maxRecords: number;
  readonly maxBytes: number;
  /** A segment that is larger is followed by a new one. */
  readonly segmentBytes: number;
  readonly clock: { readonly nowMs: () => number };
  /** Where tests make the process die; see FAILPOINTS. */
  readonly failpoint?: (step: Failpoint) => Promise<void>;
}

/** In the order in which a record meets them. */
export const FAILPOINTS = [
  "journalAfterRotate",
  "journalAfterWrite",
  "journalAfterSync",
  "journalBeforeConsume",
  "journalAfterConsume",
  "journalAfterRemove",
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

export type Appended =
  /** On disk. */
  | { readonly kind: "appended"; readonly number: number }
  /** At its bound: nothing was written. */
  | { readonly kind: "full" }
  /** The disk did not take it, or nobody knows whether it did: whoever asked must not be told that it is safe. */
  | { readonly kind: "failed"; readonly why: string };

export type ReadRecord =
  | { readonly kind: "record"; readonly number: number; readonly atMs: number; readonly data: Buffer }
  | { readonly kind: "none" }
  /** It was whole when the journal was opened, and is not now. Its segment is kept in `quarantine`. */
  | { readonly kind: "damaged"; readonly number: number; readonly why: string };

export interface JournalStats {
  /** What waits to be consumed. */
  readonly records: number;
  readonly bytes: number;
  readonly segments: number;
  /** How near its bounds it is, the nearer one of the two: 1 = at its bound. */
  readonly usedRatio: number;
  /** null when nothing waits. */
  readonly oldestAgeMs: number | null;
  /** Not even the smallest record would be taken. */
  readonly full: boolean;
  /** Why nothing more is written; null = it works. */
  readonly broken: string | null;
}

/** What was not as it should be when the journal was opened. */
export interface OpenReport {
  /** The end of a write that was never answered; it is gone. */
  readonly cut: { readonly segment: string; readonly offset: number; readonly bytes: number } | null;
  /** Places in segments that had been whole. The segments are kept in `quarantine`. */
  readonly damaged: readonly { readonly segment: string; readonly offset: number; readonly bytes: number }[];
  /** Numbers of records that were answered for and are not there: first and last of each run. */
  readonly missing: readonly { readonly first: number; readonly last: number }[];
}
