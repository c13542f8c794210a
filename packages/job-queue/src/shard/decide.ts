/**
 * One command, decided: the answer, and what must be written before it may be given. Nothing here waits or can be undone:
 * the memory has changed when this returns, and an owner whose write is refused gives the shard up.
 */
import type { Unit } from "./changes.ts";
import type { Command } from "./commands.ts";
import { type Reply, reply } from "./views.ts";
import { clearCrashed, crashJobs, listCrashed } from "./crashed.ts";
import { createJobs } from "./create.ts";
import { expireJobs } from "./expire.ts";
import { failJob, finishJob, retryJob } from "./finish.ts";
import { ingestAdds, reserveIds } from "./guests.ts";
import { releaseWorker, renewLeases, tick } from "./leases.ts";
import { countJobs, describeJob, listJobs, queryJob } from "./look.ts";
import { cancelJob, deleteJob, requeueJobs, updateJob } from "./manage.ts";
import { type Notice, noticesOf } from "./notices.ts";
import type { Shard } from "./shard.ts";
import { STATUS } from "./statuses.ts";
import { swapJob } from "./swap.ts";
import { getJobs } from "./take.ts";

export interface Decision {
  readonly reply: Reply;
  /** In this order; each is one transaction at most. */
  readonly units: readonly Unit[];
  readonly notices: readonly Notice[];
}

/** What throws on the way has changed the memory or not: its caller must discard what was noted. */
export function decide(shard: Shard, command: Command, now: number): Decision {
  shard.promote(now);
  const answer = carryOut(shard, command, now);
  const units = shard.takeUnits();
  return { reply: answer, units, notices: noticesOf(command, units, now) };
}

function carryOut(shard: Shard, command: Command, now: number): Reply {
  switch (command.verb) {
    case "CreateJobs":
      return createJobs(shard, command, now);
    case "GetJobs":
      return getJobs(shard, command, now);
    case "QueryJob":
      return queryJob(shard, command);
    case "UpdateJob":
      return updateJob(shard, command, now);
    case "FinishJob":
      return finishJob(shard, command, now);
    case "RetryJob":
      return retryJob(shard, command, now);
    case "FailJob":
      return failJob(shard, command, now);
    case "CancelJob":
      return cancelJob(shard, command, now);
    case "DeleteJob":
      return deleteJob(shard, command, now);
    case "RequeueJobs":
      return requeueJobs(shard, command, now);
    case "SwapJob":
      return swapJob(shard, command, now);
    case "RenewLeases":
      return renewLeases(shard, command, now);
    case "ReleaseWorker":
      return releaseWorker(shard, command.worker, now);
    case "ExpireJobs":
      return expireJobs(shard, command, now);
    case "DescribeJob":
      return describeJob(shard, command);
    case "ListJobs":
      return listJobs(shard, command);
    case "ListRuns":
      // An owner's memory has only their names: who asks the owner gets them read.
      return reply(STATUS.ok, { kind: "runs", runs: [], next: null });
    case "CountJobs":
      return countJobs(shard, command.tenant, now);
    case "ReserveIds":
      return reserveIds(shard, command);
    case "IngestAdds":
      return ingestAdds(shard, command, now);
    case "CrashJobs":
      return crashJobs(shard, command);
    case "ClearCrashed":
      return clearCrashed(shard, command.tenant);
    case "ListCrashed":
      return listCrashed(shard, command.tenant);
    case "Tick":
      return tick(shard, now);
  }
}
