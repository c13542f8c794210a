/** Commands about jobs that nobody needs to hold: update, cancel, delete, requeue. */
import { STEP_JOBS } from "../limits.ts";
import type { Job } from "../records.ts";
import type { DeleteJob, OneJob, RequeueJobs, UpdateJob } from "./commands.ts";
import { type Reply, reply } from "./views.ts";
import { dataFields, isTooLarge } from "./data.ts";
import { changed, FRESH, moved, scheduledRun, withoutRepeat } from "./job.ts";
import { ownJob } from "./look.ts";
import { clearEnded, removeParent, wakeParentOf } from "./parents.ts";
import { isAllowed } from "../states.ts";
import { sealProblem } from "./sealed.ts";
import type { Shard } from "./shard.ts";
import { STATUS } from "./statuses.ts";

export function updateJob(shard: Shard, command: UpdateJob, now: number): Reply {
  const { id, data, lease, priority, step } = command;
  const job = ownJob(shard, command);
  if (job === null) return reply(STATUS.noSuchJob);
  if (lease !== null && job.lease?.token !== lease) return reply(STATUS.leaseLost);
  if (data !== null && isTooLarge(data.text)) return reply(STATUS.malformed("data"));
  const sealed = data && sealProblem(job.tenant, job, { name: job.name, ...dataFields(data) });
  if (sealed !== null) return reply(sealed);
  if (command.repeat !== null && job.retryAfter !== undefined) return reply(STATUS.retryAfterAndRepeat);
  const nextRun = command.nextRun ?? scheduledRun(job, command.repeat ?? undefined, now) ?? job.nextRun;
  const updated = changed(job, {
    ...(data === null ? {} : dataFields(data)),
    nextRun,
    repeat: command.clearRepeat ? undefined : (command.repeat ?? job.repeat),
    retryAfterCount: countAfter(job, data?.retryAfterCount ?? null),
    ...(priority === null ? {} : { priority }),
    ...(step === null ? {} : { step }),
  });
  shard.putIfOther(id, updated, now);
  // Its holder is alive. Anybody else, an operator say, is no sign of that.
  if (lease !== null) shard.renew(id, now);
  return reply(STATUS.ok);
}

/** A holder that sends back the data it was given shows the count from before its own run: that must not lower the count. */
function countAfter({ lease, retryAfterCount }: Job, given: number | null): number | undefined {
  if (given === null) return retryAfterCount;
  return lease === undefined ? given : Math.max(given, retryAfterCount ?? 0);
}

export function cancelJob(shard: Shard, command: OneJob, now: number): Reply {
  const job = ownJob(shard, command);
  if (job === null) return reply(STATUS.noSuchJob);
  if (shard.family(command.id).ids.size > 0) return reply(STATUS.cancelWithChildren);
  // The same command again: the first answer may have been lost.
  if (job.state === "CANCELLED") return reply(STATUS.ok);
  if (!isAllowed(job.state, "cancel", "CANCELLED")) return reply(STATUS.cancelAfterStart);
  const endedIn = job.parent === undefined ? undefined : (shard.job(job.parent)?.cleared ?? 0);
  shard.put(command.id, moved(job, "cancel", "CANCELLED", now, { endedIn }), now);
  wakeParentOf(shard, job, now);
  shard.removeCancelled(now, 1);
  return reply(STATUS.ok);
}

export function deleteJob(shard: Shard, command: DeleteJob, now: number): Reply {
  const { id } = command;
  const job = ownJob(shard, command);
  if (job === null) return reply(STATUS.noSuchJob);
  if (job.lease !== undefined && command.afterRun === true && job.parent === undefined) {
    shard.putIfOther(id, withoutRepeat(job, now), now);
    return reply(STATUS.willNotRepeat);
  }
  if (job.lease !== undefined) return reply(STATUS.deleteRunning);
  const children = [...shard.family(id).ids];
  if (shard.stateOf(job) === "PAUSED" && job.parent === undefined) return reply(STATUS.deletePaused);
  if (children.some((child) => shard.job(child)?.lease !== undefined)) return reply(STATUS.deletePaused);
  const haveRun = [id, ...children].filter((each) => shard.job(each)?.lastRun !== undefined);
  // Its children go with it; many of them in steps, and their parent, which says that they are gone, last.
  for (const child of children) if (children.length <= STEP_JOBS) shard.remove(child);
  const many = children.length > STEP_JOBS;
  if (many) for (const child of children) shard.bury(child);
  removeParent(shard, id, job, many ? { cleared: (job.cleared ?? 0) + 1 } : clearEnded(shard, id, job), now);
  wakeParentOf(shard, job, now);
  // The end of a schedule is no wish to forget its runs.
  return command.afterRun === true ? reply(STATUS.ok) : reply(STATUS.ok, { kind: "deleted", ids: haveRun });
}

export function requeueJobs(shard: Shard, command: RequeueJobs, now: number): Reply {
  const { tenant, ids, name, decrementFailures } = command;
  const leases = command.leases === null ? null : new Set(command.leases);
  for (const id of ids) {
    shard.cut();
    const job = ownJob(shard, { tenant, id });
    if (job === null || leases?.has(job.lease?.token ?? "") === false) continue;
    const count = Math.max(0, (job.retryAfterCount ?? 0) - (decrementFailures ? 1 : 0));
    const waits = childGate(shard, job, now);
    const changes = {
      ...FRESH,
      reoffers: reoffersAfter(job, decrementFailures),
      // What never arrived was never taken: it keeps its place, and its schedule the moment to count from.
      nextRun: leases === null ? wholeSecond(job.created) : Math.min(job.nextRun, now),
      endedIn: undefined,
      retryAfterCount: count === 0 ? undefined : count,
      ...(name === null ? {} : { name }),
      ...(waits === null ? {} : { gate: waits }),
    };
    shard.put(id, moved(job, "requeue", waits === null ? "QUEUED" : "PAUSED", now, changes), now);
  }
  return reply(STATUS.ok);
}

/** As `created` is shown. */
const wholeSecond = (moment: number): number => moment - (((moment % 1_000) + 1_000) % 1_000);

/** Whoever had it may still say how it ended, and not only with the token: then the next run's end must be said with one. */
function reoffersAfter({ lease, reoffers }: Job, neverArrived: boolean): number | undefined {
  if (neverArrived) return reoffers;
  return lease === undefined ? undefined : 1;
}

/** A child can end only while its parent waits for it. Null: it does, or there is no parent. */
function childGate(shard: Shard, { parent: id }: Job, now: number): number | null {
  const parent = id === undefined ? null : shard.job(id);
  if (id === undefined || parent === null || parent.state === "PAUSED") return null;
  const phase = (parent.phase ?? 0) + 1;
  if (parent.state !== "FINISHED") return phase;
  shard.put(id, moved(parent, "wake", "PAUSED", now, { phase }), now);
  return null;
}
