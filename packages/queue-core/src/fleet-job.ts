/**
 * /fleet/jobs/JID: attempts, delays and the last events of a job, kept at or below 1 KB because it is rewritten twice
 * per stage (six times the bytes halved the throughput). Pure functions from one record to the next.
 */
import { type EventKind, type FleetJob, type JobEvent, records } from "./records.ts";
import type { JobState } from "./states.ts";

export const EVENTS_MAX = 12;
export const FLEET_JOB_BYTES_MAX = 1024;
const WHY_MAX = 120;
const DETAIL_MAX = 48;
const WORKER_MAX = 40;

export interface NewEvent {
  readonly op: string;
  readonly atMs: number;
  readonly kind: EventKind;
  readonly state: JobState;
  readonly by: string;
  readonly detail?: string;
}

export const seconds = (ms: number): number => Math.floor(ms / 1000);

export function newFleetJob(event: NewEvent): FleetJob {
  return { attempts: 0, events: [jobEvent(event)] };
}

function jobEvent({ op, atMs, kind, state, by, detail }: NewEvent): JobEvent {
  const head: [string, number, EventKind, JobState, string] = [op, seconds(atMs), kind, state, by.slice(0, WORKER_MAX)];
  return detail === undefined || detail === "" ? head : [...head, detail.slice(0, DETAIL_MAX)];
}

/** A claim counts an attempt and ends any wait. */
export function claimed(job: FleetJob, worker: string, atMs: number): FleetJob {
  return keep(job, { attempts: job.attempts + 1, claimed: [seconds(atMs), worker.slice(0, WORKER_MAX)] });
}

/** The job has left its state: a new stage starts counting from zero. */
export function moved(job: FleetJob, event: NewEvent, files: number | undefined = job.files): FleetJob {
  return append(keep(job, { attempts: 0, files }), event);
}

export interface Wait {
  readonly delayMs: number;
  readonly why: string;
  /** A snooze and a hand-back are nobody's failure: the attempt is taken back. */
  readonly countsAttempt: boolean;
}

export function waiting(job: FleetJob, wait: Wait, event: NewEvent): FleetJob {
  const attempts = wait.countsAttempt ? job.attempts : Math.max(0, job.attempts - 1);
  const base = keep(job, { attempts });
  const delayed = wait.delayMs > 0 ? { ...base, not_before: Math.ceil(wait.delayMs) } : base;
  return append(wait.why === "" ? delayed : { ...delayed, why: wait.why.slice(0, WHY_MAX) }, event);
}

/** The reason a job waits has changed, with nobody having claimed it. */
export function explained(job: FleetJob, why: string): FleetJob {
  return { ...job, why: why.slice(0, WHY_MAX) };
}

/** When the job may be claimed, in ms of the server's clock; `mtimeMs` is the node's. */
export function readyAtMs(job: FleetJob, mtimeMs: number): number {
  return job.not_before === undefined ? mtimeMs : mtimeMs + job.not_before;
}

export const hasOp = (job: FleetJob, op: string): boolean => job.events.some((event) => event[0] === op);

/** Everything that survives a step; a wait and its reason do not. */
function keep(
  job: FleetJob,
  patch: { attempts: number; files?: number | undefined; claimed?: FleetJob["claimed"] },
): FleetJob {
  const files = "files" in patch ? patch.files : job.files;
  const claim = patch.claimed ?? job.claimed;
  return {
    attempts: patch.attempts,
    ...(files === undefined ? {} : { files }),
    ...(claim === undefined ? {} : { claimed: claim }),
    events: job.events,
  };
}

/** Adds an event, then forgets the oldest until the record fits. The newest never goes: an op id must be found again. */
function append(job: FleetJob, event: NewEvent): FleetJob {
  let events = [...job.events, jobEvent(event)].slice(-EVENTS_MAX);
  while (events.length > 1 && records.fleetJob.encode({ ...job, events }).length > FLEET_JOB_BYTES_MAX)
    events = events.slice(1);
  return { ...job, events };
}
