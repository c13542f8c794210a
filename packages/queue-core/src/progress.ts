/** How far a job in hand is: its worker says so in its registration, at most every half minute. */
import type { Session } from "@sluice/zookeeper";
import { paths } from "./paths.ts";
import type { JobView } from "./readers.ts";
import { records, type WorkerProgress } from "./records.ts";

/** Locks are also written by others: what could be no part of a path names no worker. */
const NAME = /^[A-Za-z0-9._-]{1,200}$/;

/** Path of the registration of whoever has the job in hand. */
export function workerOf({ lock }: Pick<JobView, "lock">): string | null {
  if (lock === null || !NAME.test(lock.stage) || !NAME.test(lock.owner)) return null;
  return paths.worker(lock.stage, lock.owner);
}

export async function readProgress(session: Session, job: JobView): Promise<WorkerProgress | null> {
  const path = workerOf(job);
  const node = path === null ? null : await session.get(path);
  const worker = node?.ok === true ? records.worker.decode(node.value.data) : null;
  return worker?.ok === true ? (worker.value.progress?.[job.id] ?? null) : null;
}
