/** Jobs that nobody runs do not wait for ever, where an installation says so. */
import { JOBS_PER_COMMAND } from "../limits.ts";
import type { Job } from "../records.ts";
import type { ExpireJobs } from "./commands.ts";
import type { Shard } from "./shard.ts";
import { STATUS } from "./statuses.ts";
import { poison } from "./take.ts";
import { type Reply, reply } from "./views.ts";

/** Kept as FAILED, and told like everything that happens to a job by itself. A part of them at a time: who asks asks again. */
export function expireJobs(shard: Shard, { before }: ExpireJobs, now: number): Reply {
  const old: (readonly [number, Job])[] = [];
  for (const [id, job] of shard.jobs()) {
    if (old.length === JOBS_PER_COMMAND) break;
    if (isUnrun(shard, job) && job.nextRun < before) old.push([id, job]);
  }
  for (const [id, job] of old) {
    shard.cut();
    poison(shard, id, job, `due since ${new Date(job.nextRun).toISOString()}, and nobody has run it`, now);
  }
  return reply(STATUS.ok, { kind: "released", ids: old.map(([id]) => id) });
}

/** What has run once and repeats, or was given back, is somebody's. */
const isUnrun = (shard: Shard, job: Job): boolean => job.lastRun === undefined && shard.stateOf(job) === "QUEUED";
