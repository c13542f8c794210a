/**
 * /fleet/jobs/JID: attempts, delays and the last events of a job, kept at or below 1 KB because it is rewritten twice
 * per stage (six times the bytes halved the throughput). Pure functions from one record to the next.
 */
import { cutBytes } from "./cut-bytes.ts";
import { FIRST_EPOCH } from "./fleet-identity.ts";
import type { ClaimName } from "./job.ts";
import { printEpoch } from "./places.ts";
import { type EventKind, type FleetJob, type JobEvent, knownEvent, type KnownEvent, records } from "./records.ts";
import type { JobState } from "./states.ts";
import { jobRow, nextJobState } from "./transitions.ts";

export const EVENTS_MAX = 12;
export const FLEET_JOB_BYTES_MAX = 1024;
/** In bytes: letters of other scripts take three, control characters six. */
const WHY_BYTES = 120;
const DETAIL_BYTES = 300;
/** What is left of older ones where all does not fit. */
const OLD_DETAIL_BYTES = 48;
const WORKER_BYTES = 40;

export interface NewEvent {
  readonly op: string;
  readonly atMs: number;
  readonly kind: EventKind;
  readonly state: JobState;
  readonly by: string;
  readonly detail?: string;
  /** Where the kind does not tell to which state it led. */
  readonly to?: JobState;
}

export const seconds = (ms: number): number => Math.floor(ms / 1000);

export function newFleetJob(event: NewEvent): FleetJob {
  return { attempts: 0, events: [jobEvent(event)] };
}

function jobEvent({ op, atMs, kind, state, by, detail = "", to }: NewEvent, claimed?: FleetJob["claimed"]): JobEvent {
  const head: [string, number, string, string, string] = [op, seconds(atMs), kind, state, cutBytes(by, WORKER_BYTES)];
  const took = claimed === undefined ? [] : [String(Math.max(0, seconds(atMs) - claimed[0]))];
  const rest = to === undefined ? took : [took[0] ?? "", to];
  return detail === "" && rest.length === 0 ? head : [...head, cutBytes(detail, DETAIL_BYTES), ...rest];
}

export interface NewClaim {
  /** For the event that a takeover leaves. */
  readonly op: string;
  readonly atMs: number;
  readonly state: JobState;
  readonly worker: string;
  readonly token: number;
}

/** A claim counts an attempt and ends any wait. That a worker was lost with the job in hand is told in its history. */
export function claimed(job: FleetJob, { op, atMs, state, worker, token }: NewClaim): FleetJob {
  const claim: [number, string] = [seconds(atMs), cutBytes(worker, WORKER_BYTES)];
  const next: FleetJob = { ...unwaiting(job), attempts: job.attempts + 1, token, claimed: claim };
  const lost = lostWorker(job);
  if (lost === null) return fit(next);
  return append(
    next,
    { op, atMs, kind: "takeover", state, by: worker, detail: `its worker ${lost} was lost` },
    undefined,
  );
}

/** Who had it in hand and ended without a word: null if its last claim was settled. Only tells of a job that is not locked. */
export const lostWorker = (job: FleetJob): string | null => job.claimed?.[1] ?? null;

/** Its last claim ended without a word: the worker died, or was fenced out. Only tells of a job that is not locked. */
export const diedInHand = (job: FleetJob): boolean => job.claimed !== undefined;

/** The job has left its state: a new stage starts counting from zero. `files`: the claim whose files count from now on. */
export function moved(job: FleetJob, event: NewEvent, files: ClaimName | null = keptClaim(job)): FleetJob {
  const { called: _called, files: _files, files_epoch: _epoch, ...rest } = unwaiting(job);
  return append({ ...rest, ...printClaim(files), attempts: 0 }, event, job.claimed);
}

/** Another one's stage has moved it, without a word in its history: what the last stage of ours waited for is over. */
export const movedBeside = (job: FleetJob, event: NewEvent): FleetJob =>
  append({ ...unwaiting(job), attempts: 0 }, event, undefined);

/** A word in its history about the state in which it stays. */
export const noteOf = (job: FleetJob, note: Omit<NewEvent, "kind" | "to">): FleetJob =>
  append(job, { ...note, kind: "handback" }, undefined);

/** The state in which this fleet's last write left it; null: only a newer version can tell. */
export function leftIn(job: FleetJob): JobState | null {
  const last = job.events.at(-1);
  const event = last === undefined ? null : knownEvent(last);
  if (event === null) return null;
  const { kind, state, to } = event;
  switch (kind) {
    case "create":
    case "adopt":
    case "takeover":
    case "retry":
    case "snooze":
    case "handback":
      return state;
    case "done":
    case "park":
      return jobRow(state)[kind];
    case "fail":
    case "quarantine":
    case "op-fail":
      return "Failed";
    case "hold":
    case "release":
    case "delete":
      return nextJobState(state, { by: "operator", action: kind }) ?? (kind === "delete" ? "Deleted" : null);
    case "resume":
    case "beside":
      return to;
  }
}

/** The claim whose files count; null before anything was kept. */
export const keptClaim = ({ files, files_epoch: epoch = FIRST_EPOCH }: FleetJob): ClaimName | null =>
  files === undefined ? null : { epoch, token: files };

function printClaim(claim: ClaimName | null): Pick<FleetJob, "files" | "files_epoch"> {
  if (claim === null) return {};
  const epoch = printEpoch(claim.epoch);
  return { files: claim.token, ...(epoch === undefined ? {} : { files_epoch: epoch }) };
}

/** Without what a wait or a claim left; what a newer version put there stays. */
export function unwaiting(job: FleetJob): FleetJob {
  const { not_before: _delay, why: _why, claimed: _claim, ...rest } = job;
  return rest;
}

export interface Wait {
  readonly delayMs: number;
  readonly why: string;
  /** A snooze and a hand-back are nobody's failure: the attempt is taken back. */
  readonly countsAttempt: boolean;
}

export function waiting(job: FleetJob, wait: Wait, event: NewEvent): FleetJob {
  const attempts = wait.countsAttempt ? job.attempts : Math.max(0, job.attempts - 1);
  const next: FleetJob = {
    ...unwaiting(job),
    attempts,
    ...(wait.delayMs > 0 ? { not_before: Math.ceil(wait.delayMs) } : {}),
    ...(wait.why === "" ? {} : { why: cutBytes(wait.why, WHY_BYTES) }),
  };
  return append(next, event, job.claimed);
}

/** Its worker lost its session, which is no fault of the job: as if it had not been claimed. The history tells. */
export const uncounted = (job: FleetJob, event: NewEvent): FleetJob =>
  waiting(job, { delayMs: 0, why: "", countsAttempt: false }, event);

/**
 * The reason a job waits has changed, with nobody having claimed it. A delay counts from the node's mtime, which this
 * write moves: what is left of it, if anything, must be said anew.
 */
export function explained(job: FleetJob, why: string, delayLeftMs = 0): FleetJob {
  const { not_before: _, ...rest } = job;
  return fit({
    ...rest,
    ...(delayLeftMs > 0 ? { not_before: Math.ceil(delayLeftMs) } : {}),
    why: cutBytes(why, WHY_BYTES),
  });
}

/** What became of the callback about its failure: "" = it was taken. */
export const calledBack = (job: FleetJob, atMs: number, notDelivered: string): FleetJob =>
  fit({
    ...job,
    called:
      notDelivered === ""
        ? [seconds(atMs), "delivered"]
        : [seconds(atMs), "not-delivered", cutBytes(notDelivered, WHY_BYTES)],
  });

/** When the job may be claimed, in ms of the server's clock; `mtimeMs` is the node's. */
export function readyAtMs(job: FleetJob, mtimeMs: number): number {
  return job.not_before === undefined ? mtimeMs : mtimeMs + job.not_before;
}

export const hasOp = (job: FleetJob, op: string): boolean => job.events.some((event) => event[0] === op);

/** How a claim ended, by its id; null = it has not been settled, or so much has happened since that nobody knows. */
export function endOfClaim({ events }: FleetJob, claim: string): KnownEvent | null {
  const event = events.find(([op]) => op === claim);
  return event === undefined ? null : knownEvent(event);
}

function append(job: FleetJob, event: NewEvent, claim: FleetJob["claimed"]): FleetJob {
  return fit({ ...job, events: [...job.events, jobEvent(event, claim)].slice(-EVENTS_MAX) });
}

/**
 * Where all does not fit, the oldest give way: first their words are cut short, then they are forgotten. The newest
 * stays as it is: its words are what people look for, and its op id must be found again.
 */
function fit(job: FleetJob): FleetJob {
  let { events } = job;
  const isTooLong = (): boolean => records.fleetJob.encode({ ...job, events }).length > FLEET_JOB_BYTES_MAX;
  for (let i = 0; i < events.length - 1 && isTooLong(); i++) events = events.map((e, k) => (k === i ? cutShort(e) : e));
  while (events.length > 1 && isTooLong()) events = events.slice(1);
  return { ...job, events };
}

function cutShort([op, at, kind, state, by, detail, ...rest]: JobEvent): JobEvent {
  return detail === undefined
    ? [op, at, kind, state, by]
    : [op, at, kind, state, by, cutBytes(detail, OLD_DETAIL_BYTES), ...rest];
}
