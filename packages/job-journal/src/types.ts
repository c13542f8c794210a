/** What the journal of jobs says and asks for. */
import type { Failpoint as LogFailpoint, OpenReport } from "@sluice/journal";
import type { Line } from "./batch-text.ts";
import type { TokenProblem } from "./reservations.ts";

export interface Jobtype {
  readonly tenant: string;
  readonly name: string;
}

/** In the order in which a line meets them; those of the log below come between. */
export const FAILPOINTS = ["jobsNumbered", "jobsRead", "jobsIngested", "jobsBeforePoint", "jobsAfterPoint"] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

export interface JournalLog {
  /** Lines and records that cannot be read are skipped; their ids are lost with them. */
  badLine(facts: { readonly id: number; readonly why: string; readonly text: string }): void;
  badRecord(facts: { readonly record: number; readonly why: string }): void;
  opened(report: OpenReport): void;
}

export interface JobJournalOptions {
  /** Of this journal alone; made if it is not there. */
  readonly folder: string;
  /** Bound of what waits. */
  readonly maxBytes: number;
  readonly segmentBytes: number;
  readonly clock: { readonly nowMs: () => number };
  readonly log: JournalLog;
  /** Where tests make the process die. */
  readonly failpoint?: (step: Failpoint | LogFailpoint) => Promise<void>;
}

export type Written =
  /** On disk, under these ids. */
  | { readonly kind: "written"; readonly ids: readonly number[] }
  /** The type or the payloads can never be written. */
  | { readonly kind: "refused"; readonly why: string }
  /** At its bound: nothing was written. */
  | { readonly kind: "full"; readonly retryAfterMs: number }
  /** More must be reserved first: nothing was written. */
  | { readonly kind: "no ids" }
  /** The disk did not take it, or nobody knows whether it did. */
  | { readonly kind: "failed"; readonly why: string };

export type ReadLines =
  { readonly ok: true; readonly lines: readonly Line[] } | { readonly ok: false; readonly why: TokenProblem };

export type Synced = { readonly ok: true } | { readonly ok: false; readonly why: TokenProblem };

export interface JobJournalStats {
  readonly lines: number;
  readonly bytes: number;
  readonly usedRatio: number;
  readonly oldestAgeMs: number | null;
  readonly idsLeft: number;
  readonly broken: string | null;
}
