/** Every bound of the queue in one place. Sizes are bytes of UTF-8, times are ms. */

export const NAME_BYTES = 255;
/** Of a list of names to take from. */
export const NAMES_BYTES = 50 * NAME_BYTES;
/** Of a repeat or retryAfter. */
export const SCHEDULE_BYTES = 255;
/** Of a job's data, and of a result, in the tree; larger ones stand in the store of blobs. */
export const TREE_BYTES = 60 * 1024;
export const DATA_BYTES = 1024 * 1024;
/** Levels of a job's data: what is nested thousands deep overflows the stack of whoever prints it. */
export const DATA_DEPTH = 100;
/** Of a request that holds data: a list of jobs, each with its data. */
export const REQUEST_DEPTH = DATA_DEPTH + 10;
export const RESULT_BYTES = 16 * 1024 * 1024;
/** Data that is larger stands in a node of its own beside the record. */
export const INLINE_DATA_BYTES = 2 * 1024;
export const RECORD_BYTES = 4 * 1024;
export const INLINE_RESULT_BYTES = 512;
export const STEP_BYTES = 120;
export const WORKER_BYTES = 128;

/** Of the list of types that crash, of all tenants of a shard. */
export const CRASHED_BYTES = 60 * 1024;

/** How many events a record keeps. */
export const EVENTS_KEPT = 12;

/** Cancelled jobs without a parent: how long they are shown, and how many of a shard at most. */
export const CANCELLED_KEPT_MS = 3_600_000;
export const CANCELLED_KEPT = 1_000;

/** States of a container job: the first one, and the last ones. */
export const CONTAINER_STATES_KEPT = 200;

/** A job that was taken this often without an end, or whose lease lapsed this often, is poison. */
export const TAKEN_MAX = 10;

/** Of one CreateJobs, and of one answer to GetJobs. */
export const JOBS_PER_COMMAND = 10_000;
/**
 * Of one answer. GetJobs takes no more jobs when their data is as large as this: what could not be delivered would be lost on the
 * way. Of children beyond it only the ids are told; lists end here and lead on.
 */
export const ANSWER_BYTES = 16 * 1024 * 1024;
/** Of a list for which no length was asked. */
export const LIST_ROWS = 10_000;
/** What one transaction may hold; larger CreateJobs are made in parts and count when their mark is written. */
export const CREATES_PER_TRANSACTION = 500;
export const TRANSACTION_BYTES = 256 * 1024;
/** Beyond this the session sends none: its bound, less what frames and the fence need. */
export const TRANSACTION_BYTES_MAX = 480 * 1024;
/** Commands that travel in one transaction. Where a transaction takes long, few of them would be the bound of the rate. */
export const GROUP_MEMBERS = 200;
/** Jobs that one step of a sweep, a purge or a large command puts into one transaction. */
export const STEP_JOBS = 50;
export const IN_FLIGHT = 4;

/** Live jobs of one shard: what a new owner can load in about two seconds. */
export const JOBS_PER_SHARD = 200_000;
/** Of one tenant, unless its owner is told otherwise: others of the shard must find room. */
export const JOBS_PER_TENANT = 100_000;
/** What the ends of runs ask for may go so far beyond it: a run that cannot end frees no room. */
export const FOLLOWERS_SHARE = 1.25;
/** Entries of one directory of the archive. */
export const DONE_PER_DIRECTORY = 20_000;
/** How many ended runs, and bytes of them, the tree of one shard holds; and from where on callers are held back: who archives is behind. */
export interface EndedInTree {
  readonly runs: number;
  readonly bytes: number;
  readonly mostRuns: number;
  readonly mostBytes: number;
  /** So much leaves at once. */
  readonly sliceRuns: number;
  readonly sliceBytes: number;
}
export const ENDED_IN_TREE: EndedInTree = {
  runs: 4_000,
  bytes: 8 * 1024 * 1024,
  mostRuns: 50_000,
  mostBytes: 64 * 1024 * 1024,
  sliceRuns: 500,
  sliceBytes: 1024 * 1024,
};
/** Ended runs whose token is remembered, so that a repeated FinishJob is answered like the first. */
export const ENDED_REMEMBERED = 20_000;

/** What we can see of who has a job: a worker that renews, a connection that is open, or nothing. */
export const LEASE_KINDS = ["worker", "connection", "timed"] as const;
export type LeaseKind = (typeof LEASE_KINDS)[number];
/** Unless the caller asks for another time: lost work comes back soon, whoever lost it. */
export const LEASE_MS = 10_000;
/** Of a caller whose connection is all that we see: a client may close it after each command, and be at work. */
export const CONNECTION_LEASE_MS = 25_000;
export const LEASE_MS_LEAST = 1_000;
export const LEASE_MS_MOST = 3_600_000;

/** Of the name of a process that keeps a journal. */
export const GUEST_NAME = /^[A-Za-z0-9._-]{1,128}$/;
/** Of one page of a list. */
export const LIST_MOST = 1_000;
/** Ended runs that DescribeJob shows. */
export const RUNS_SHOWN = 50;
/** Entries of the archive that one ListRuns reads; its page is short then, and leads on. */
export const RUNS_READ_MOST = 2_000;

/** A pattern over more names than these has a heap of its own; of each tenant the last so many patterns. */
export const NAMES_LOOKED_AT = 64;
export const PATTERNS_KEPT = 64;

/** Between the starts of two runs of a schedule of the fleet's own tenant, whatever its repeat says. */
export const FLEET_INTERVAL_MS = 1_000;
/** Of a deposit for later that does not hold the interval of the intake that made it. */
export const SEALED_INTERVAL_MS = 900_000;
/** Missed times of a schedule that are passed by one by one; after more its times are counted from now. */
export const MISSED_TIMES_MOST = 10_000;

export const RETRY_DELAY_DIGITS = 8;
