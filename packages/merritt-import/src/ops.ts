/** A planned batch or job as the ops of one multi. Pure. Whoever writes to the same thing meanwhile is noticed by version. */
import { BUCKETS, EMPTY, parseBatchUuid, paths, records, type StatusReport } from "@sluice/queue-core";
import type { Op } from "@sluice/zookeeper";
import type { OldJob, OldNode } from "./old-tree.ts";
import type { BatchToBring } from "./plan.ts";
import type { PlannedJob } from "./plan-job.ts";

const create = (path: string, data: Buffer = EMPTY): Op => ({ op: "create", path, data });

/** As it shall be, against what is there: nothing is written that says the right thing already. */
function nodeOp(path: string, data: Buffer, old: OldNode | undefined): Op {
  if (old === undefined) return create(path, data);
  const { version } = old;
  return old.data.equals(data) ? { op: "check", path, version } : { op: "set", path, data, version };
}

const dropLock = (path: string, lock: OldNode | null): readonly Op[] =>
  lock === null ? [] : [{ op: "delete", path, version: lock.version }];

/** One place in the queues and one in its batch, whatever a crash had left. */
function placeOps(wanted: string, there: readonly string[]): readonly Op[] {
  return [
    ...there.filter((path) => path !== wanted).map((path): Op => ({ op: "delete", path, version: 0 })),
    ...(there.includes(wanted) ? [] : [create(wanted)]),
  ];
}

export function jobOps(plan: PlannedJob, old: OldJob, inPlace: boolean): readonly Op[] {
  const home = paths.job(plan.id);
  const nodes = [...plan.nodes].map(([name, data]) =>
    inPlace ? nodeOp(`${home}/${name}`, data, old.nodes.get(name)) : create(`${home}/${name}`, data),
  );
  const buckets = old.buckets.map(({ batch, bucket }) => paths.bucketEntry(batch, bucket, plan.id));
  return [
    create(paths.fleetJob(plan.id), plan.fleetJob),
    ...(inPlace ? [] : [create(home)]),
    ...nodes,
    ...placeOps(plan.entry, inPlace ? old.entries : []),
    ...placeOps(plan.bucketEntry, inPlace ? buckets : []),
    ...(inPlace ? dropLock(paths.jobLock(plan.id), old.deadLock) : []),
    ...(plan.uuid === null ? [] : [create(paths.importedJob(plan.uuid), records.jid.encode(plan.id))]),
  ];
}

/** What must be there before its jobs are. */
export function frameOps({ old, plan, framed }: BatchToBring, inPlace: boolean): readonly Op[] {
  const { id } = plan;
  const buckets = (missing: (bucket: (typeof BUCKETS)[number]) => boolean): readonly Op[] =>
    BUCKETS.filter(missing).map((bucket) => create(paths.bucket(id, bucket)));
  if (inPlace) {
    return [
      ...(old.hasStates ? [] : [create(paths.batchStates(id))]),
      ...buckets((bucket) => !old.buckets.has(bucket)),
    ];
  }
  if (framed) return [];
  const others = [...old.nodes].filter(([name]) => name !== "submission" && name !== "status");
  return [
    ...uuidOps(plan.uuid, id, []),
    create(paths.batch(id)),
    create(paths.batchSubmission(id), plan.submission),
    create(paths.batchStatus(id), plan.status),
    ...others.map(([name, node]) => create(`${paths.batch(id)}/${name}`, node.data)),
    create(paths.batchStates(id)),
    ...buckets(() => true),
  ];
}

function uuidOps(uuid: string | undefined, id: PlannedJob["batch"], there: readonly string[]): readonly Op[] {
  const parsed = parseBatchUuid(uuid ?? "");
  return parsed === null || there.includes(parsed) ? [] : [create(paths.batchUuid(parsed), records.bid.encode(id))];
}

/** Its last write: from here on our services see it. */
export function sealOps(
  { old, plan, there }: BatchToBring,
  report: StatusReport | null,
  inPlace: boolean,
): readonly Op[] {
  const { id, expansion } = plan;
  const listed = there?.entries ?? [];
  return [
    ...listed.flatMap(({ state, version }): Op[] =>
      state === plan.to ? [] : [{ op: "delete", path: paths.fleetBatch(state, id), version }],
    ),
    ...(listed.some(({ state }) => state === plan.to) ? [] : [create(paths.fleetBatch(plan.to, id))]),
    ...(inPlace
      ? [
          nodeOp(paths.batchStatus(id), plan.status, old.nodes.get("status")),
          nodeOp(paths.batchSubmission(id), plan.submission, old.nodes.get("submission")),
          ...uuidOps(plan.uuid, id, old.uuids),
          ...dropLock(paths.batchLock(id), old.deadLock),
        ]
      : []),
    ...(expansion === null
      ? []
      : [create(paths.expansion(id), records.expansion.encode({ ...expansion, created: expansion.rows, digest: "" }))]),
    ...(report === null ? [] : [create(paths.batchReport(id), records.statusReport.encode(report))]),
    ...(plan.due && there?.isDue !== true ? [create(paths.dueBatch(id))] : []),
  ];
}
