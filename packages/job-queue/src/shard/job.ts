/** Small changes of one job's record. */
import type { BlobRef } from "../blobs.ts";
import { EVENTS_KEPT } from "../limits.ts";
import type { Job, JobEvent } from "../records.ts";
import { isAllowed, type Move, type State } from "../states.ts";
import { nextPacedRunOf, nextRunOf, parseRepeat } from "../time/repeat.ts";
import { showSeconds, showTime } from "../time/timestamp.ts";
import type { JobView, StateView } from "./views.ts";
import { shownData } from "./data.ts";
import { leastIntervalOf } from "./interval.ts";

export type JobChanges = { readonly [Key in keyof Job]?: Job[Key] | undefined };

/** A field that becomes undefined is gone: it is neither written nor different from one that never was. */
export const changed = (job: Job, changes: JobChanges): Job => ({ ...job, ...changes }) as Job;

/** The one way to another state; a move that the table does not know is a mistake of the program. */
export function moved(job: Job, move: Move, to: State, now: number, changes: JobChanges = {}): Job {
  if (!isAllowed(job.state, move, to)) throw new Error(`no ${move} from ${job.state} to ${to}`);
  const by = changes.lease?.worker ?? job.lease?.worker ?? "";
  const event: JobEvent = by === "" ? [now, move] : [now, move, by];
  const kept = job.ev.length < EVENTS_KEPT ? job.ev : job.ev.slice(1 - EVENTS_KEPT);
  return { ...job, ...changes, state: to, ev: [...kept, event] } as Job;
}

/** No more in anybody's hand, and as if it had never been taken. */
export const FRESH = { lease: undefined, reoffers: undefined, retryAfterCount: undefined, step: undefined } as const;

/** Why a job is FAILED whose next time does not exist. */
export const BEYOND_CALENDAR = "its next time is beyond the calendar";

/** Shown while the last run of a cancelled schedule is in progress. */
export const WILL_NOT_REPEAT = "cancelled: it will not repeat";

/** It was cancelled while it ran: the run that ends is its last, unless somebody asked for the job again since. */
export const isLastRun = ({ parent, ev }: Job): boolean =>
  parent === undefined && ev.some(([, what], at) => what === "cancel" && ev[at + 1]?.[1] !== "requeue");

/** As it runs, and never again. */
export function withoutRepeat(job: Job, now: number): Job {
  if (isLastRun(job)) return job;
  const ev: readonly JobEvent[] = [...job.ev.slice(1 - EVENTS_KEPT), [now, "cancel"]];
  return changed(job, { repeat: undefined, step: WILL_NOT_REPEAT, ev: [...ev] });
}

/** Null: its schedule leads out of the calendar. Undefined: it has none. */
export function scheduledRun(job: Job, repeat: string | undefined, now: number): number | null | undefined {
  const schedule = repeat === undefined ? null : parseRepeat(repeat);
  if (schedule === null) return undefined;
  const moments = { scheduled: job.nextRun, started: job.lastRun ?? now, finished: now };
  const leastMs = leastIntervalOf(job);
  return leastMs === null ? nextRunOf(schedule, moments) : nextPacedRunOf(schedule, moments, leastMs);
}

export const refOf = ({ dataRef }: Job): { readonly dataRef?: BlobRef } => (dataRef === undefined ? {} : { dataRef });

/** `state` is the one that counts, which for a child whose gate is open is not the one that is written. */
export const viewOf = (id: number, job: Job, state: State): StateView => ({
  ...jobView(id, job, shownData(job)),
  state,
});

export function jobView(id: number, job: Job, data: string): JobView {
  const view = {
    jobID: id,
    name: job.name,
    data,
    retryAfter: job.retryAfter?.toUpperCase() ?? "",
    created: showSeconds(job.created),
    repeat: job.repeat?.toUpperCase() ?? "",
    lastRun: job.lastRun === undefined ? "" : showTime(job.lastRun),
    nextRun: showTime(job.nextRun),
    priority: job.priority,
  };
  return job.dataRef === undefined ? view : { ...view, dataRef: job.dataRef };
}

/** A job with retryAfter belongs to its taker until its nextRun, however silent the taker is: only maxRunTime ends it sooner. */
export function leaseEnd({ lease, lastRun, maxRunTime, retryAfter }: Job, now: number): number {
  const end = maxRunTime === undefined ? Infinity : (lastRun ?? now) + maxRunTime;
  return retryAfter === undefined ? Math.min(now + (lease?.ttl ?? 0), end) : end;
}
