/** What operators' actions do, in words, and where the tables allow them: help, confirmations and console say nothing else. */
import { BATCH_STATES, type BatchState, JOB_STATES, type JobState } from "./states.ts";
import { BATCH_TABLE, type BatchAction, type BatchRow, JOB_TABLE, type JobAction, type JobRow } from "./transitions.ts";

export const JOB_ACTION_SAYS: Readonly<Record<JobAction, string>> = {
  hold: "The job waits until it is released.",
  release: "The job starts again at Pending.",
  resume: "The job continues after the last stage that succeeded, or from an earlier one.",
  fail: "The job is taken from its worker and fails: callback and report tell of it as of any failure.",
  delete:
    "The job is given up permanently, and its files are removed. The report of its batch lists it as deleted; no callback tells of it.",
};

export const BATCH_ACTION_SAYS: Readonly<Record<BatchAction, string>> = {
  release: "The batch starts again at Pending.",
  delete:
    "The batch is given up permanently, with all its jobs, running ones too. No mail and no callback tells of it.",
  "update-reporting": "The depositor is told what changed since the last report.",
};

export function jobStatesFor(action: JobAction): readonly JobState[] {
  const table: Readonly<Record<JobState, JobRow>> = JOB_TABLE;
  return JOB_STATES.filter((state) => table[state].operator[action] !== undefined);
}

export function batchStatesFor(action: BatchAction): readonly BatchState[] {
  const table: Readonly<Record<BatchState, BatchRow>> = BATCH_TABLE;
  return BATCH_STATES.filter((state) => table[state].operator[action] !== undefined);
}

/** `A, B or C` */
export const eitherOf = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} or ${names.at(-1) ?? ""}`;
