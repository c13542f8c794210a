/**
 * The words of the queue: states and stages. A state is spelled as CDL's libraries write it into a status node; its
 * directory under /jobs/states is the same word in lower case.
 */

export const JOB_STATES = [
  "Pending",
  "Held",
  "Estimating",
  "Provisioning",
  "Downloading",
  "Processing",
  /** Of Merritt's newer libraries, between Processing and Recording: read here, and never entered. */
  "Storing",
  "Recording",
  "Notify",
  "Completed",
  "Failed",
  "Deleted",
] as const;
export type JobState = (typeof JOB_STATES)[number];

export const BATCH_STATES = [
  "Pending",
  "Held",
  "Processing",
  "Reporting",
  "UpdateReporting",
  "Completed",
  "Failed",
  "Deleted",
] as const;
export type BatchState = (typeof BATCH_STATES)[number];

/** A stage is named by its service. */
export const STAGES = [
  "batch-intake",
  "estimator",
  "provisioner",
  "downloader",
  "processor",
  "recorder",
  "notifier",
  "reporter",
] as const;
export type Stage = (typeof STAGES)[number];

/** The four directories under /batches/BID/states in which a batch finds its jobs again. */
export const BUCKETS = ["batch-processing", "batch-failed", "batch-completed", "batch-deleted"] as const;
export type Bucket = (typeof BUCKETS)[number];

/** Reads a state in any case, as CDL's Java, Ruby and the seed documents spell it. */
function stateReader<S extends string>(states: readonly S[]): (raw: string) => S | null {
  const byKey = new Map(states.map((state) => [state.toLowerCase(), state]));
  return (raw) => byKey.get(raw.toLowerCase().replaceAll("-", "")) ?? null;
}
export const readJobState = stateReader(JOB_STATES);
export const readBatchState = stateReader(BATCH_STATES);
