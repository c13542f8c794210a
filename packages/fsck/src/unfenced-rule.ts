/**
 * A program with CDL's library knows no fence: what it writes after it has lost a job cannot be prevented. It is seen by this:
 * the status is newer than the last write of this fleet, and no way of the program's stage leads there.
 */
import {
  bucketOf,
  clampPriority,
  formatTimestamp,
  isFinal,
  judgeWrite,
  noteOf,
  overwritten,
  paths,
  records,
  statusAsLeft,
} from "@sluice/queue-core";
import type { Op } from "@sluice/zookeeper";
import type { JobFacts, RuleContext, Suspicion } from "./facts.ts";
import { createOp, deleteOp, goneOps } from "./mending.ts";

/** null: nobody wrote it who had lost it. */
export function unfenced(job: JobFacts, context: RuleContext): Suspicion | null {
  const { status, history, id } = job;
  if (context.beside === null || status?.value == null || history?.value == null) return null;
  const found = { state: status.value.status, stat: status.node.stat };
  const write = judgeWrite(context.beside, found, { job: history.value, stat: history.node.stat });
  if (write.kind !== "overwritten") return null;
  const what = overwritten(write.from, status.value.status);
  return { rule: "UNFENCED", path: paths.jobStatus(id), what, sinceMs: null, mend: putBack(job, context) };
}

const BY_HAND = {
  human: "find out from the program's logs what it did, then fail the job, and resume it where it is to go on",
} as const;

function putBack(job: JobFacts, { nowMs }: RuleContext): Suspicion["mend"] {
  const { id, status, history, priority, bid, lock } = job;
  if (status?.value == null || history?.value == null || priority?.value == null || bid?.value == null) return BY_HAND;
  const left = statusAsLeft(history.value, status.value, formatTimestamp(nowMs));
  if (left === null || lock !== null) return BY_HAND;
  const entry = paths.queueEntry(left.status, clampPriority(priority.value), id);
  const bucket = paths.bucketEntry(bid.value, bucketOf(left.status), id);
  const places = [
    ...job.entries.map((at) => paths.queueEntry(at.state, at.priority, id)),
    ...job.buckets.map((at) => paths.bucketEntry(at.batch, at.bucket, id)),
  ];
  const wanted = isFinal(left.status) ? [bucket] : [entry, bucket];
  const note = noteOf(history.value, {
    op: `fsck-${nowMs.toString(36)}`,
    atMs: nowMs,
    state: left.status,
    by: "fsck",
    detail: left.message,
  });
  const ops: readonly Op[] = [
    { op: "set", path: paths.jobStatus(id), data: records.jobStatus.encode(left), version: status.node.stat.version },
    { op: "set", path: paths.fleetJob(id), data: records.fleetJob.encode(note), version: history.node.stat.version },
    ...goneOps(paths.jobLock(id)),
    ...places.filter((path) => path !== entry && path !== bucket).map((path) => deleteOp(path, 0)),
    ...wanted.filter((path) => !places.includes(path)).map((path) => createOp(path)),
  ];
  return { says: `put it back to ${left.status}, as this fleet had left it`, ops };
}
