/**
 * What a worker of the etcd document does by a compare-and-swap: the job is as it was read, or nothing happens. What it may
 * become follows from the moves of every other caller: claimed, told how far it is, ended, or given back.
 */
import type { Job } from "../records.ts";
import { containerPhase } from "./container-states.ts";
import type { SwapJob } from "./commands.ts";
import { failJob, finishJob } from "./finish.ts";
import { ownJob } from "./look.ts";
import { requeueJobs, updateJob } from "./manage.ts";
import type { Shard } from "./shard.ts";
import { STATUS } from "./statuses.ts";
import { takeById } from "./take.ts";
import { type Reply, reply } from "./views.ts";

export function swapJob(shard: Shard, command: SwapJob, now: number): Reply {
  const job = ownJob(shard, command);
  if (job === null) return reply(STATUS.noSuchJob);
  if (shard.versionOf(command.id) !== command.version) return reply(STATUS.changedMeanwhile);
  return swap(shard, command, job, now);
}

function swap(shard: Shard, command: SwapJob, job: Job, now: number): Reply {
  const { tenant, id, phase } = command;
  switch (`${containerPhase(shard.stateOf(job))} to ${phase}` as const) {
    case "QUEUED to STARTED":
      return claim(shard, command, job, now);
    case "QUEUED to QUEUED":
    case "STARTED to STARTED":
      return isOwner(command, job) ? update(shard, command, job, now) : reply(STATUS.otherOwner);
    case "STARTED to FINISHED":
      return end(shard, command, job, now);
    case "STARTED to QUEUED":
    case "FINISHED to QUEUED":
      return requeueJobs(
        shard,
        { verb: "RequeueJobs", tenant, ids: [id], name: null, decrementFailures: false, leases: null },
        now,
      );
    case "QUEUED to FINISHED":
    case "FINISHED to STARTED":
    case "FINISHED to FINISHED":
      return reply(STATUS.noSuchMove);
  }
}

const isOwner = ({ worker }: SwapJob, { lease }: Job): boolean => lease === undefined || worker === lease.worker;

/** Only what GetJob could be given: a job that waits for its time, or for its parent, is not claimed. */
function claim(shard: Shard, command: SwapJob, job: Job, now: number): Reply {
  if (shard.stateOf(job) !== "QUEUED" || job.nextRun > now) return reply(STATUS.notDue);
  const { id, worker, leaseMs } = command;
  if (!takeById(shard, id, { caller: { kind: "worker", worker }, leaseMs, limit: 1 }, now)) return reply(STATUS.notDue);
  const taken = shard.job(id);
  return taken === null ? reply(STATUS.notDue) : update(shard, command, taken, now);
}

function update(shard: Shard, { tenant, id, data, step }: SwapJob, { lease }: Job, now: number): Reply {
  const kept = { repeat: null, clearRepeat: false, nextRun: null, priority: null } as const;
  return updateJob(shard, { verb: "UpdateJob", tenant, id, data, step, lease: lease?.token ?? null, ...kept }, now);
}

function end(shard: Shard, { tenant, id, data, outcome }: SwapJob, { lease }: Job, now: number): Reply {
  const isWell = outcome?.isWell !== false;
  const told = { exit: isWell ? 200 : 400, result: outcome?.info ?? null };
  const ended = { tenant, id, lease: lease?.token ?? null, data, ...told };
  return isWell
    ? finishJob(shard, { verb: "FinishJob", ...ended }, now)
    : failJob(shard, { verb: "FailJob", ...ended }, now);
}
