/** Commands about jobs that nobody needs to hold: look, update, cancel, delete, requeue. */
import { STEP_JOBS, TAKEN_MAX } from "../limits.ts";
import type { Job } from "../records.ts";
import { type OneJob, type Reply, reply, type RequeueJobs, type StateView, type UpdateJob } from "./commands.ts";
import { changed, FRESH, moved, scheduledRun, viewOf } from "./job.ts";
import { clearEnded, removeParent, wakeParentOf } from "./parents.ts";
import type { Shard } from "./shard.ts";
import { STATUS } from "./statuses.ts";
import { poison } from "./take.ts";

const ownJob = (shard: Shard, { tenant, id }: { readonly tenant: string; readonly id: number }): Job | null => {
  const job = shard.job(id);
  return job?.tenant === tenant ? job : null;
};

export function queryJob(shard: Shard, command: OneJob): Reply {
  const job = ownJob(shard, command);
  if (job === null) return reply(STATUS.noSuchJob);
  return reply(STATUS.ok, { kind: "job", job: viewOf(command.id, job, shard.stateOf(job)) });
}

export function listJobs(shard: Shard, tenant: string): Reply {
  const own = [...shard.jobs()].filter(([, job]) => job.tenant === tenant);
  own.sort(([a], [b]) => a - b);
  // A list shows what stands in the records: schedules as they were written.
  const rowOf = ([id, job]: readonly [number, Job]): StateView => ({
    ...viewOf(id, job, shard.stateOf(job)),
    repeat: job.repeat ?? "",
  });
  return reply(STATUS.ok, { kind: "list", jobs: own.map(rowOf) });
}

export function updateJob(shard: Shard, command: UpdateJob, now: number): Reply {
  const { id, data, lease, priority, step } = command;
  const job = ownJob(shard, command);
  if (job === null) return reply(STATUS.noSuchJob);
  if (lease !== null && job.lease?.token !== lease) return reply(STATUS.leaseLost);
  if (command.repeat !== null && job.retryAfter !== undefined) return reply(STATUS.retryAfterAndRepeat);
  const nextRun = command.nextRun ?? scheduledRun(job, command.repeat ?? undefined, now) ?? job.nextRun;
  const updated = changed(job, {
    data: data.text,
    nextRun,
    repeat: command.clearRepeat ? undefined : (command.repeat ?? job.repeat),
    retryAfterCount: data.retryAfterCount ?? job.retryAfterCount,
    ...(priority === null ? {} : { priority }),
    ...(step === null ? {} : { step }),
  });
  shard.put(id, updated, now);
  return reply(STATUS.ok);
}

export function cancelJob(shard: Shard, command: OneJob, now: number): Reply {
  const job = ownJob(shard, command);
  if (job === null) return reply(STATUS.noSuchJob);
  if (shard.family(command.id).ids.size > 0) return reply(STATUS.cancelWithChildren);
  if (job.parent === undefined) return reply(STATUS.cancelWithoutParent);
  const state = shard.stateOf(job);
  if (state === "RUNNING" || state === "FINISHED" || state === "PAUSED") return reply(STATUS.ok);
  const endedIn = shard.job(job.parent)?.cleared ?? 0;
  shard.put(command.id, moved(job, "cancel", "CANCELLED", now, { lease: undefined, endedIn }), now);
  wakeParentOf(shard, job, now);
  return reply(STATUS.ok);
}

export function deleteJob(shard: Shard, command: OneJob, now: number): Reply {
  const { id } = command;
  const job = ownJob(shard, command);
  if (job === null) return reply(STATUS.noSuchJob);
  if (job.lease !== undefined) return reply(STATUS.deleteRunning);
  const children = [...shard.family(id).ids];
  if (shard.stateOf(job) === "PAUSED" && job.parent === undefined) return reply(STATUS.deletePaused);
  if (children.some((child) => shard.job(child)?.lease !== undefined)) return reply(STATUS.deletePaused);
  // Its children go with it; many of them in steps, and their parent, which says that they are gone, last.
  for (const child of children) if (children.length <= STEP_JOBS) shard.remove(child);
  const many = children.length > STEP_JOBS;
  if (many) for (const child of children) shard.bury(child);
  removeParent(shard, id, job, many ? { cleared: (job.cleared ?? 0) + 1 } : clearEnded(shard, id, job), now);
  wakeParentOf(shard, job, now);
  return reply(STATUS.ok);
}

export function requeueJobs(shard: Shard, command: RequeueJobs, now: number): Reply {
  const { tenant, ids, name, decrementFailures } = command;
  for (const [n, id] of ids.entries()) {
    if (n > 0 && n % STEP_JOBS === 0) shard.cut();
    const job = ownJob(shard, { tenant, id });
    if (job === null) continue;
    const count = Math.max(0, (job.retryAfterCount ?? 0) - (decrementFailures ? 1 : 0));
    const waits = childGate(shard, job, now);
    const changes = {
      ...FRESH,
      nextRun: job.created,
      endedIn: undefined,
      retryAfterCount: count === 0 ? undefined : count,
      ...(name === null ? {} : { name }),
      ...(waits === null ? {} : { gate: waits }),
    };
    shard.put(id, moved(job, "requeue", waits === null ? "QUEUED" : "PAUSED", now, changes), now);
  }
  return reply(STATUS.ok);
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

export function renewLeases(
  shard: Shard,
  leases: readonly { readonly id: number; readonly token: string }[],
  now: number,
): Reply {
  const lost = leases.filter(({ id, token }) => shard.job(id)?.lease?.token !== token).map(({ id }) => id);
  for (const { id } of leases) if (!lost.includes(id)) shard.renew(id, now);
  return reply(STATUS.ok, { kind: "lost", ids: lost });
}

/** Leases that ran out give their jobs back at once; what is dead is swept. A step of each, so that others get their turn. */
export function tick(shard: Shard, now: number): Reply {
  for (const id of shard.lapsed(now, STEP_JOBS)) lapse(shard, id, now);
  shard.cut();
  shard.sweep(STEP_JOBS);
  return reply(STATUS.ok);
}

function lapse(shard: Shard, id: number, now: number): void {
  const job = shard.job(id);
  if (job === null) return;
  const reoffers = (job.reoffers ?? 0) + 1;
  if (reoffers >= TAKEN_MAX) poison(shard, id, changed(job, { reoffers }), now);
  else {
    const changes = { lease: undefined, reoffers, nextRun: Math.min(job.nextRun, now) };
    shard.put(id, moved(job, "lapse", "QUEUED", now, changes), now);
  }
}
