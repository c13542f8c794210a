/** What is kept of a run that has ended, and of a job that goes with it. */
import { EVENTS_KEPT } from "../limits.ts";
import type { Done, Job, JobEvent, RunOutcome } from "../records.ts";
import type { Move } from "../states.ts";
import type { RunEnd } from "./commands.ts";

interface Ended {
  readonly outcome: RunOutcome;
  readonly end: RunEnd;
  /** Its record goes, or may go: what it said is kept with the run. */
  readonly last: boolean;
  readonly now: number;
}

const MOVE_OF = { finished: "finish", failed: "fail", retried: "retry" } as const satisfies Record<RunOutcome, Move>;

/** `job` as it was before its end, with the data that came with the end. */
export function doneOf(job: Job, { outcome, end: { exit, result }, last, now }: Ended): Done {
  // What is undefined is not written.
  return {
    name: job.name,
    tenant: job.tenant,
    worker: job.lease === undefined || job.lease.worker === "" ? undefined : job.lease.worker,
    outcome: outcome === "finished" ? undefined : outcome,
    exit: exit ?? undefined,
    result: typeof result === "string" ? result : undefined,
    resultRef: result === null || typeof result === "string" ? undefined : result,
    created: job.created,
    started: job.lastRun,
    ended: now,
    job: last ? restOf(job, MOVE_OF[outcome], now) : undefined,
  };
}

function restOf(job: Job, move: Move, now: number): NonNullable<Done["job"]> {
  const { priority, repeat, retryAfter, parent, mock, maxRunTime, step, data, dataRef, onFinish, lease } = job;
  const event: JobEvent = lease === undefined || lease.worker === "" ? [now, move] : [now, move, lease.worker];
  const ev = [...job.ev, event].slice(-EVENTS_KEPT);
  return { priority, repeat, retryAfter, parent, mock, maxRunTime, step, data, dataRef, onFinish, ev };
}
