/** Everything of one batch in one multiRead. */
import { BATCH_STATES, type Bucket, BUCKETS, paths, records } from "@sluice/queue-core";
import type { Read, Session } from "@sluice/zookeeper";
import type { BatchFacts, Subject } from "./facts.ts";
import { factOf } from "./read-job.ts";

export type BatchSubject = Extract<Subject, { kind: "batch" }>;

/** null = no answer; `again` = its submission changed between. */
export async function readBatchNow(session: Session, subject: BatchSubject): Promise<BatchFacts | "again" | null> {
  const { id } = subject;
  const before = await session.get(paths.batchSubmission(id));
  if (!before.ok && before.code !== "NO_NODE") return null;
  const uuid = (before.ok ? factOf(records.submission, before.value)?.value?.batchID : null) ?? null;
  const uuids = [...new Set([...subject.uuids, ...(uuid === null ? [] : [uuid])])];
  const reads: readonly Read[] = [
    { get: paths.batch(id) },
    { get: paths.batchStatus(id) },
    { get: paths.batchSubmission(id) },
    { get: paths.batchReport(id) },
    { get: paths.batchLock(id) },
    { get: paths.batchStates(id) },
    { get: paths.dueBatch(id) },
    { get: paths.expansion(id) },
    { get: paths.batchReports(id) },
    ...BUCKETS.map((bucket): Read => ({ children: paths.bucket(id, bucket) })),
    ...BATCH_STATES.map((state): Read => ({ get: paths.fleetBatch(state, id) })),
    ...uuids.map((name): Read => ({ get: `${paths.batchUuids}/${name}` })),
  ];
  const answers = await session.readMany(reads);
  if (!answers.ok) return null;
  const node = (path: string) => {
    const answer = answers.value[reads.findIndex((read) => "get" in read && read.get === path)];
    return answer?.kind === "node" ? answer.node : null;
  };
  const bucket = (name: Bucket): readonly string[] | null => {
    const answer =
      answers.value[reads.findIndex((read) => "children" in read && read.children === paths.bucket(id, name))];
    return answer?.kind === "children" ? answer.names : null;
  };
  const submission = factOf(records.submission, node(paths.batchSubmission(id)));
  if ((submission?.value?.batchID ?? null) !== uuid) return "again";
  return {
    id,
    exists: node(paths.batch(id)) !== null,
    status: factOf(records.batchStatus, node(paths.batchStatus(id))),
    submission,
    report: factOf(records.statusReport, node(paths.batchReport(id))),
    lock: node(paths.batchLock(id)),
    hasStates: node(paths.batchStates(id)) !== null,
    buckets: {
      "batch-processing": bucket("batch-processing"),
      "batch-failed": bucket("batch-failed"),
      "batch-completed": bucket("batch-completed"),
      "batch-deleted": bucket("batch-deleted"),
    },
    entries: BATCH_STATES.flatMap((state) => {
      const entry = node(paths.fleetBatch(state, id));
      return entry === null ? [] : [{ state, version: entry.stat.version }];
    }),
    due: node(paths.dueBatch(id)),
    expansion: factOf(records.expansion, node(paths.expansion(id))),
    uuids: uuids.flatMap((name) => {
      const found = node(`${paths.batchUuids}/${name}`);
      return found === null
        ? []
        : [{ uuid: name, names: factOf(records.bid, found)?.value ?? null, version: found.stat.version }];
    }),
    reportChunks: node(paths.batchReports(id)) !== null,
  };
}
