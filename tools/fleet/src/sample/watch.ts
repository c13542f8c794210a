/** Watches a batch until it has reported, and shows how its jobs move. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type BatchId,
  type BatchView,
  BUCKETS,
  type JobState,
  listBucket,
  readBatch,
  readJobs,
} from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import { type Progress, progressLine } from "./progress.ts";

const POLL_MS = 150;
const REPORTED = new Set(["Completed", "Failed", "Deleted"]);
/** More than a screen can show; counts of larger batches come from their buckets. */
const JOBS_SHOWN_MAX = 500;

export interface Watched {
  readonly status: string;
  readonly jobs: number;
}

export async function watchBatch(
  session: Session,
  id: BatchId,
  show: (line: string) => void,
  signal: AbortSignal,
): Promise<Watched | null> {
  let shown = "";
  while (!signal.aborted) {
    const view = await readBatch(session, id);
    if (view.kind === "found") {
      const line = progressLine(await progressOf(session, view.value));
      if (line !== shown) show((shown = line));
      const { status } = view.value.status;
      if (REPORTED.has(status)) return { status, jobs: view.value.expansion?.created ?? 0 };
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return null;
}

export async function progressOf(session: Session, view: BatchView): Promise<Progress> {
  const byState = new Map<JobState, number>();
  const buckets = await Promise.all(BUCKETS.map((bucket) => listBucket(session, view.id, bucket)));
  // A job that moves between two listings is in both: count it once.
  const ids = new Set(buckets.flatMap((list) => list ?? []));
  for (const job of (await readJobs(session, [...ids].slice(0, JOBS_SHOWN_MAX))) ?? []) {
    if (job.kind !== "found") continue;
    const { status } = job.value.status;
    byState.set(status, (byState.get(status) ?? 0) + 1);
  }
  return { status: view.status.status, rows: view.expansion?.rows ?? 0, byState };
}
