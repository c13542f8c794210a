/** Chaining: a job that has ended well leaves its result to another one, in the same transaction. */
import type { Job } from "../records.ts";
import { wholeJob } from "../whole-job.ts";
import type { RunEnd } from "./commands.ts";

/** No exit code is a good one; of the codes, those from 200 to 299 are. */
export const isGood = (exit: number | null): boolean => exit === null || Math.floor(exit / 100) === 2;

/** A result in the store of blobs stays there: the doors put it where a small one stands. */
export function followOn(id: number, job: Job, name: string, { exit, result }: RunEnd, now: number): Job {
  const from = { jobID: id, name: job.name, exit };
  const isSmall = typeof result === "string" || result === null;
  return wholeJob({
    name,
    tenant: job.tenant,
    state: "QUEUED",
    priority: job.priority,
    nextRun: now,
    created: now,
    mock: job.mock,
    data: JSON.stringify(isSmall ? { from, payload: result } : { from }),
    dataRef: isSmall ? undefined : { ...result, as: "payload" },
    ev: [[now, "create"]],
  });
}
