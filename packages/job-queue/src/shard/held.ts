/** Whether a caller may still say how a job ended. */
import type { Job } from "../records.ts";
import { isLeased } from "../states.ts";
import { type Reply, reply } from "./views.ts";
import type { GivenData } from "./data.ts";
import type { Shard } from "./shard.ts";
import { type Status, STATUS } from "./statuses.ts";

export interface Holder {
  readonly tenant: string;
  readonly id: number;
  readonly lease: string | null;
  readonly worker?: string;
  readonly remembered?: boolean;
  readonly data: GivenData | null;
}

export type Held = { readonly job: Job } | { readonly reply: Reply };

const no = (status: Status): Held => ({ reply: reply(status) });

export function heldJob(
  shard: Shard,
  { tenant, id, lease, worker, remembered, data }: Holder,
  notRunning: Status,
): Held {
  const job = shard.job(id);
  if (job !== null && job.tenant !== tenant) return no(STATUS.noSuchJob);
  // The first answer was lost: this is the same end of the same run again.
  if (remembered !== true && shard.hasEnded(lease, id)) return no(STATUS.ok);
  if (job === null) return no(STATUS.noSuchJob);
  if (!isLeased(job.state) && job.mock !== true) return no(notRunning);
  if (!mayEnd(job, lease, worker)) return no(STATUS.leaseLost);
  if (data !== null && data.mock !== (job.mock === true)) return no(STATUS.mockMismatch);
  return { job };
}

/**
 * A client of Bedrock shows no token, and may use a new connection for each command. So a caller without a token is taken
 * for the present holder, unless it names a worker that surely was overtaken: one that had the job before the present holder.
 */
function mayEnd(job: Job, lease: string | null, worker?: string): boolean {
  if (job.lease === undefined) return true;
  if (lease !== null) return job.lease.token === lease;
  return worker === undefined || worker === job.lease.worker || !hadIt(job, worker);
}

const hadIt = ({ ev }: Job, worker: string): boolean => ev.some(([, what, by]) => what === "take" && by === worker);

export function parentProblem(shard: Shard, job: Job): Status | null {
  if (job.parent === undefined || shard.job(job.parent)?.state === "PAUSED") return null;
  return STATUS.parentNotPaused;
}
