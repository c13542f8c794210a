import type { BatchState, Bucket, JobState, Stage } from "./states.ts";
import { JOB_STATES } from "./states.ts";

/**
 * THE tables. Code, docs/states.md, diagrams, tests, console and CLI are derived from them; nobody else names an edge.
 *
 * A row says who works a state and where each outcome leads. `null` = there is no such way.
 */
export interface JobRow {
  /** The stage that takes jobs from this state; null for states in which a job rests. */
  readonly owner: Stage | null;
  readonly done: JobState | null;
  readonly fail: JobState | null;
  /** Where the owner parks a job whose collection is held. */
  readonly park: JobState | null;
  /** What operators may do here, and where it leads. `resume` leads to a state computed by `resumeAt`. */
  readonly operator: Readonly<Partial<Record<JobAction, JobState | "resume">>>;
  /** Where the batch finds the job. */
  readonly bucket: Bucket;
  readonly says: string;
}

export const JOB_ACTIONS = ["hold", "release", "resume", "fail", "delete"] as const;
export type JobAction = (typeof JOB_ACTIONS)[number];

// prettier-ignore
export const JOB_TABLE = {
  Pending:      { owner: "batch-intake", done: "Estimating",   fail: "Failed", park: "Held", operator: { hold: "Held", fail: "Failed" },          bucket: "batch-processing", says: "waits for the check of holds and of its payload" },
  Held:         { owner: null,           done: null,           fail: null,     park: null,   operator: { release: "Pending", delete: "Deleted" }, bucket: "batch-processing", says: "its collection was held; an operator releases it" },
  Estimating:   { owner: "estimator",    done: "Provisioning", fail: null,     park: null,   operator: { fail: "Failed" },                        bucket: "batch-processing", says: "its size is asked for; an unknown size is 0, never a failure" },
  Provisioning: { owner: "provisioner",  done: "Downloading",  fail: null,     park: null,   operator: { fail: "Failed" },                        bucket: "batch-processing", says: "waits for room in the working volume" },
  Downloading:  { owner: "downloader",   done: "Processing",   fail: "Failed", park: null,   operator: { fail: "Failed" },                        bucket: "batch-processing", says: "its content is fetched and checked" },
  Processing:   { owner: "processor",    done: "Recording",    fail: "Failed", park: null,   operator: { fail: "Failed" },                        bucket: "batch-processing", says: "is identified, described and stored" },
  Storing:      { owner: null,           done: null,           fail: null,     park: null,   operator: { delete: "Deleted" },                     bucket: "batch-processing", says: "Merritt's storage service has it: no service of this fleet works on it" },
  Recording:    { owner: "recorder",     done: "Notify",       fail: "Failed", park: null,   operator: { fail: "Failed" },                        bucket: "batch-processing", says: "is recorded in the inventory" },
  Notify:       { owner: "notifier",     done: "Completed",    fail: "Failed", park: null,   operator: { fail: "Failed" },                        bucket: "batch-processing", says: "the depositor's system is called back" },
  Completed:    { owner: null,           done: null,           fail: null,     park: null,   operator: {},                                        bucket: "batch-completed",  says: "stored, recorded, told; the reporter clears its folder" },
  Failed:       { owner: null,           done: null,           fail: null,     park: null,   operator: { resume: "resume", delete: "Deleted" },   bucket: "batch-failed",     says: "did not get through: an operator resumes or deletes it, and its depositor is told" },
  Deleted:      { owner: null,           done: null,           fail: null,     park: null,   operator: {},                                        bucket: "batch-deleted",    says: "given up; its nodes go with the batch" },
} as const satisfies Record<JobState, JobRow>;

export interface BatchRow {
  readonly owner: readonly Stage[];
  readonly done: BatchState | null;
  readonly fail: BatchState | null;
  readonly park: BatchState | null;
  readonly operator: Readonly<Partial<Record<BatchAction, BatchState>>>;
  /** Whether a failed job of such a batch may be resumed. */
  readonly resumable: boolean;
  readonly says: string;
}

export const BATCH_ACTIONS = ["release", "delete", "update-reporting"] as const;
export type BatchAction = (typeof BATCH_ACTIONS)[number];

// prettier-ignore
export const BATCH_TABLE = {
  Pending:         { owner: ["batch-intake"],             done: "Processing", fail: "Failed", park: "Held", operator: {},                                                    resumable: false, says: "waits to be validated and expanded" },
  Held:            { owner: [],                           done: null,         fail: null,     park: null,   operator: { release: "Pending", delete: "Deleted" },             resumable: false, says: "its collection was held; an operator releases it" },
  Processing:      { owner: ["batch-intake", "reporter"], done: "Reporting",  fail: "Failed", park: null,   operator: {},                                                    resumable: true,  says: "its jobs are made and worked; fails only before its first job" },
  Reporting:       { owner: ["reporter"],                 done: "Completed",  fail: "Failed", park: null,   operator: {},                                                    resumable: false, says: "every job has ended; the depositor is told" },
  UpdateReporting: { owner: ["reporter"],                 done: "Completed",  fail: "Failed", park: null,   operator: {},                                                    resumable: false, says: "what changed since the last report is told" },
  Completed:       { owner: [],                           done: null,         fail: null,     park: null,   operator: {},                                                    resumable: false, says: "no job failed; cleaned up after the retention time" },
  Failed:          { owner: [],                           done: null,         fail: null,     park: null,   operator: { "update-reporting": "UpdateReporting", delete: "Deleted" }, resumable: true,  says: "at least one job failed, or it could not be expanded" },
  Deleted:         { owner: [],                           done: null,         fail: null,     park: null,   operator: {},                                                    resumable: false, says: "given up, with its jobs; cleaned up after the retention time" },
} as const satisfies Record<BatchState, BatchRow>;

export const jobRow = (state: JobState): JobRow => JOB_TABLE[state];
export const batchRow = (state: BatchState): BatchRow => BATCH_TABLE[state];
export const bucketOf = (state: JobState): Bucket => JOB_TABLE[state].bucket;

/** Worked by a service of Merritt's, if by any: nothing of ours ever leads here. */
export const isMerritts = (state: JobState): boolean => state === "Storing";

/** Worked by a stage: on its way, and not at rest. */
export const isLive = (state: JobState): boolean => JOB_TABLE[state].owner !== null;
/** Over, as far as its batch is concerned. */
export const isEnded = (state: JobState): boolean => bucketOf(state) !== "batch-processing";
/** Nothing ever leaves such a state. */
export const isFinal = (state: JobState): boolean => isEnded(state) && Object.keys(jobRow(state).operator).length === 0;

/** The one state that a stage takes jobs from; null for the reporter, which works batches. */
export function stateOf(stage: Stage): JobState | null {
  return JOB_STATES.find((state) => JOB_TABLE[state].owner === stage) ?? null;
}

/** How a move came about. `quarantine` is the runtime's verdict on a poison job; `batch-delete` takes a job with its batch. */
export type JobMove =
  | { readonly by: "stage"; readonly outcome: "done" | "fail" | "park" }
  | { readonly by: "runtime"; readonly outcome: "quarantine" }
  | { readonly by: "operator"; readonly action: Exclude<JobAction, "resume"> }
  | { readonly by: "batch-delete" };

/** Where a move leads from a state; null = the table does not allow it. */
export function nextJobState(from: JobState, move: JobMove): JobState | null {
  const row = jobRow(from);
  switch (move.by) {
    case "stage":
      return row[move.outcome];
    case "runtime":
      return isLive(from) ? "Failed" : null;
    case "operator": {
      const to = row.operator[move.action] ?? null;
      return to === "resume" ? null : to;
    }
    case "batch-delete":
      return isFinal(from) ? null : "Deleted";
  }
}

export type BatchMove =
  | { readonly by: "stage"; readonly outcome: "done" | "fail" | "park" }
  | { readonly by: "operator"; readonly action: BatchAction };

export function nextBatchState(from: BatchState, move: BatchMove): BatchState | null {
  const row = batchRow(from);
  return move.by === "stage" ? row[move.outcome] : (row.operator[move.action] ?? null);
}

/** The stages' states in the order in which `done` leads through them. */
export const PIPELINE: readonly JobState[] = ((): readonly JobState[] => {
  const chain: JobState[] = [];
  for (let state: JobState | null = "Pending"; state !== null && isLive(state); state = jobRow(state).done)
    chain.push(state);
  return chain;
})();

/** The state that `done` leaves for `state`; null for the first. */
export function predecessor(state: JobState): JobState | null {
  return PIPELINE[PIPELINE.indexOf(state) - 1] ?? null;
}

/**
 * Where a failed job goes on: after the last stage that succeeded. Trees written by CDL's libraries may hold `Held`
 * or `Failed` there, which say nothing about success: they count as none. What they have stored is recorded next.
 */
export function resumeAt(lastSuccessful: JobState | null): JobState {
  if (lastSuccessful === "Storing") return "Recording";
  const next = lastSuccessful !== null && isLive(lastSuccessful) ? jobRow(lastSuccessful).done : null;
  return next !== null && isLive(next) ? next : "Pending";
}

/** The states an operator may choose to resume at: the right one, or an earlier one. */
export function resumeChoices(lastSuccessful: JobState | null): readonly JobState[] {
  return PIPELINE.slice(0, PIPELINE.indexOf(resumeAt(lastSuccessful)) + 1);
}
