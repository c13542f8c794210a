/** FinishJob, RetryJob and FailJob: how a run ends. */
import { FOLLOWERS_SHARE } from "../limits.ts";
import type { Job } from "../records.ts";
import { followOn, isGood } from "./chain.ts";
import type { FailJob, FinishJob, RetryJob } from "./commands.ts";
import { type Reply, reply } from "./views.ts";
import { createJobs } from "./create.ts";
import { withStates } from "./container-states.ts";
import { dataFields, type GivenData, isLargeResult, isTooLarge, printedBytes } from "./data.ts";
import { doneOf } from "./done.ts";
import { heldJob, parentProblem } from "./held.ts";
import { BEYOND_CALENDAR, changed, FRESH, isLastRun, moved, scheduledRun } from "./job.ts";
import { clearEnded, removeParent, wakeParentOf } from "./parents.ts";
import { sealProblem } from "./sealed.ts";
import type { Shard } from "./shard.ts";
import { type Status, STATUS } from "./statuses.ts";
import { bytesOf } from "./written.ts";

export function finishJob(shard: Shard, command: FinishJob, now: number): Reply {
  const held = heldJob(shard, command, STATUS.notRunning);
  if ("reply" in held) return held.reply;
  const problem = parentProblem(shard, held.job) ?? dataProblem(held.job, command);
  if (problem !== null) return reply(problem);
  const refused = makeAskedFor(shard, held.job, command, now);
  if (refused !== null) return reply(refused);
  const { id, data } = command;
  const job = withData(held.job, data);
  noteEnd(shard, id, job);
  if (shard.family(id).pending.size > 0) {
    pause(shard, id, job, now);
    return reply(STATUS.ok);
  }
  const cleared = clearEnded(shard, id, job);
  const nextRun = data?.last === true ? undefined : scheduledRun(job, job.repeat, now);
  const last = nextRun === undefined;
  archive(shard, command, job, doneOf(job, { outcome: "finished", end: command, last, now }));
  if (last) end(shard, id, job, cleared, now);
  else runAgain(shard, id, job, { nextRun, cleared }, now);
  const follower = job.onFinish ?? command.onFinish;
  if (follower !== undefined && isGood(command.exit))
    shard.create(shard.newId(), followOn(id, job, follower, command, now), now);
  return reply(STATUS.ok);
}

const withData = (job: Job, data: GivenData | null): Job =>
  data === null ? job : withStates(job, changed(job, dataFields(data)));

function archive(shard: Shard, { id }: { readonly id: number }, job: Job, done: ReturnType<typeof doneOf>): void {
  shard.archive(id, job.lease?.token ?? shard.newToken(), done);
}

const sizeProblem = ({ data, result }: Pick<FinishJob, "data" | "result">): Status | null => {
  if (data !== null && isTooLarge(data.text)) return STATUS.malformed("data");
  return typeof result === "string" && isLargeResult(result) ? STATUS.malformed("result") : null;
};

const dataProblem = (
  job: Job,
  command: Pick<FinishJob, "data" | "result"> & { readonly name?: string | null },
): Status | null => {
  const next = command.data === null ? job : dataFields(command.data);
  return (
    sizeProblem(command) ??
    sealProblem(job.tenant, job, { name: command.name ?? job.name, data: next.data, dataRef: next.dataRef })
  );
};

/** In the transaction of the end, so never twice; what is too much for one is for its holder to make before. Null: done. */
function makeAskedFor(
  shard: Shard,
  job: Job,
  { tenant, then: jobs = [], data, result }: Pick<FinishJob, "tenant" | "then" | "data" | "result">,
  now: number,
): Status | null {
  if (jobs.length === 0) return null;
  const most = Math.floor(shard.jobsPerTenant * FOLLOWERS_SHARE);
  // Written twice at most: the job with its record and with its run, the result with its run and for the job that follows.
  const beside = 2 * (bytesOf(withData(job, data)) + (typeof result === "string" ? printedBytes(result) : 0));
  const { status } = createJobs(shard, { verb: "CreateJobs", tenant, jobs, single: false }, now, { most, beside });
  return status.code === STATUS.ok.code ? null : status;
}

/** One write lets all its children go: their gates are open. */
function pause(shard: Shard, id: number, job: Job, now: number): void {
  const changes = { ...FRESH, ...clearEnded(shard, id, job), nextRun: job.lastRun ?? now, phase: (job.phase ?? 0) + 1 };
  shard.put(id, moved(job, "pause", "PAUSED", now, changes), now);
}

/** Null as its next run: its schedule has left the calendar, and somebody must look at it. */
function runAgain(
  shard: Shard,
  id: number,
  job: Job,
  { nextRun, cleared }: { readonly nextRun: number | null; readonly cleared: { readonly cleared?: number } },
  now: number,
): void {
  const changes = { ...FRESH, ...cleared };
  if (nextRun !== null) shard.put(id, moved(job, "repeat", "QUEUED", now, { ...changes, nextRun }), now);
  else {
    shard.put(id, moved(job, "poison", "FAILED", now, { ...changes, step: BEYOND_CALENDAR }), now);
    wakeParentOf(shard, job, now);
  }
}

function end(shard: Shard, id: number, job: Job, cleared: { readonly cleared?: number }, now: number): void {
  if (job.parent !== undefined) {
    const endedIn = shard.job(job.parent)?.cleared ?? 0;
    shard.put(id, moved(job, "finish", "FINISHED", now, { ...FRESH, endedIn }), now);
    wakeParentOf(shard, job, now);
  } else if (shard.family(id).ids.size > 0) {
    // Failed children are kept, and so is their parent.
    shard.put(id, moved(job, "finish", "FINISHED", now, { ...FRESH, ...cleared }), now);
  } else removeParent(shard, id, job, cleared, now);
}

export function retryJob(shard: Shard, command: RetryJob, now: number): Reply {
  const held = heldJob(shard, command, STATUS.notRunning);
  if ("reply" in held) return held.reply;
  const problem = parentProblem(shard, held.job) ?? dataProblem(held.job, command);
  if (problem !== null) return reply(problem);
  const refused = makeAskedFor(shard, held.job, command, now);
  if (refused !== null) return reply(refused);
  const { id, data, name, priority } = command;
  if (isLastRun(held.job)) return endCancelled(shard, command, held.job, now);
  if (command.exit !== null || command.result !== null)
    archive(shard, command, held.job, doneOf(held.job, { outcome: "retried", end: command, last: false, now }));
  const job = changed(withData(held.job, data), {
    ...(name === null ? {} : { name }),
    ...(priority === null ? {} : { priority }),
  });
  noteEnd(shard, id, job);
  const repeated = command.ignoreRepeat ? undefined : scheduledRun(job, job.repeat, now);
  const nextRun = repeated === undefined ? (command.nextRun ?? now + command.delay * 1000) : repeated;
  const cleared = clearEnded(shard, id, job);
  if (nextRun === null) runAgain(shard, id, job, { nextRun, cleared }, now);
  else shard.put(id, moved(job, "retry", "QUEUED", now, { ...FRESH, ...cleared, nextRun }), now);
  return reply(STATUS.ok);
}

/** What was cancelled while it ran is not tried again. */
function endCancelled(shard: Shard, command: RetryJob, held: Job, now: number): Reply {
  const { id, data } = command;
  const job = withData(held, data);
  noteEnd(shard, id, job);
  archive(shard, command, job, doneOf(job, { outcome: "finished", end: command, last: true, now }));
  end(shard, id, job, clearEnded(shard, id, job), now);
  return reply(STATUS.ok);
}

export function failJob(shard: Shard, command: FailJob, now: number): Reply {
  const held = heldJob(shard, command, STATUS.notRunningToFail);
  if ("reply" in held) return held.reply;
  const { job } = held;
  // A mocked job may be finished in any state, but failed only while it runs.
  if (job.lease === undefined) return reply(STATUS.notRunningToFail);
  const problem = dataProblem(job, command) ?? makeAskedFor(shard, job, command, now);
  if (problem !== null) return reply(problem);
  const failing = withData(job, command.data);
  noteEnd(shard, command.id, job);
  archive(shard, command, failing, doneOf(failing, { outcome: "failed", end: command, last: true, now }));
  shard.put(command.id, moved(failing, "fail", "FAILED", now, { lease: undefined }), now);
  wakeParentOf(shard, job, now);
  return reply(STATUS.ok);
}

function noteEnd(shard: Shard, id: number, { lease }: Job): void {
  if (lease !== undefined) shard.rememberEnd(lease.token, id);
}
