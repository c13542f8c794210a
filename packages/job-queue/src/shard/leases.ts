/** Leases: renewed, lost, or taken from a worker that is gone. */
import { STEP_JOBS, TAKEN_MAX } from "../limits.ts";
import type { RenewLeases } from "./commands.ts";
import { type Reply, reply } from "./views.ts";
import { changed, moved } from "./job.ts";
import type { Shard } from "./shard.ts";
import { STATUS } from "./statuses.ts";
import { poison } from "./take.ts";

export function renewLeases(shard: Shard, { tenant, leases }: RenewLeases, now: number): Reply {
  const lost: number[] = [];
  for (const { id, token } of leases) {
    const job = shard.job(id);
    if (job?.tenant === tenant && job.lease?.token === token) shard.renew(id, now);
    else lost.push(id);
  }
  return reply(STATUS.ok, { kind: "lost", ids: lost });
}

/** Leases that ran out give their jobs back at once; what is dead is swept. A step of each, so that others get their turn. */
export function tick(shard: Shard, now: number): Reply {
  for (const id of shard.lapsed(now, STEP_JOBS)) lapse(shard, id, now);
  shard.cut();
  shard.removeCancelled(now, STEP_JOBS);
  shard.cut();
  shard.sweep(STEP_JOBS);
  return reply(STATUS.ok);
}

/** Jobs that it has ended stay as they are; jobs with retryAfter stay its own until their nextRun. */
export function releaseWorker(shard: Shard, worker: string, now: number): Reply {
  const ids = [...shard.heldBy(worker)].filter((id) => shard.job(id)?.retryAfter === undefined);
  for (const id of ids) lapse(shard, id, now);
  return reply(STATUS.ok, { kind: "released", ids });
}

function lapse(shard: Shard, id: number, now: number): void {
  const job = shard.job(id);
  if (job === null) return;
  shard.cut();
  const reoffers = (job.reoffers ?? 0) + 1;
  if (reoffers >= TAKEN_MAX)
    poison(shard, id, changed(job, { reoffers }), `lost ${reoffers} times by its workers`, now);
  else {
    const changes = { lease: undefined, reoffers, nextRun: Math.min(job.nextRun, now) };
    shard.put(id, moved(job, "lapse", "QUEUED", now, changes), now);
  }
}
