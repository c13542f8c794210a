/** Every bound of the queue in one place. Sizes are bytes of UTF-8, times are ms. */

export const NAME_BYTES = 255;
/** Of a list of names to take from. */
export const NAMES_BYTES = 50 * NAME_BYTES;
/** Of a repeat or retryAfter. */
export const SCHEDULE_BYTES = 255;
/** Of a job's data; beyond it the data would need a store of its own. */
export const DATA_BYTES = 60 * 1024;
/** Data that is larger stands in a node of its own beside the record. */
export const INLINE_DATA_BYTES = 2 * 1024;
export const RECORD_BYTES = 4 * 1024;
export const RESULT_BYTES = 60 * 1024;
export const INLINE_RESULT_BYTES = 512;
export const STEP_BYTES = 120;
export const WORKER_BYTES = 128;

/** How many events a record keeps. */
export const EVENTS_KEPT = 12;

/** A job that was taken this often without an end, or whose lease lapsed this often, is poison. */
export const TAKEN_MAX = 10;

/** Of one CreateJobs, and of one answer to GetJobs. */
export const JOBS_PER_COMMAND = 10_000;
/** What one transaction may hold; larger CreateJobs are made in parts and count when their mark is written. */
export const CREATES_PER_TRANSACTION = 500;
export const TRANSACTION_BYTES = 256 * 1024;
/** Commands that travel in one transaction. */
export const GROUP_MEMBERS = 50;
/** Jobs that one step of a sweep, a purge or a large command puts into one transaction. */
export const STEP_JOBS = 50;
export const IN_FLIGHT = 4;

/** Live jobs of one shard: what a new owner can load in about two seconds. */
export const JOBS_PER_SHARD = 200_000;
/** Entries of one directory of the archive. */
export const DONE_PER_DIRECTORY = 20_000;
/** Ended runs whose token is remembered, so that a repeated FinishJob is answered like the first. */
export const ENDED_REMEMBERED = 20_000;

export const LEASE_MS = { worker: 10_000, connection: 10_000, timed: 300_000 } as const;
export type LeaseKind = keyof typeof LEASE_MS;

export const RETRY_DELAY_DIGITS = 8;
