/** What must hold of one job at rest, and how it is mended. Pure. */
import {
  type BatchId,
  bucketOf,
  clampPriority,
  isFinal,
  isLive,
  isMerritts,
  newFleetJob,
  paths,
  records,
} from "@sluice/queue-core";
import type { Op } from "@sluice/zookeeper";
import type { JobFacts, RuleContext, Suspicion } from "./facts.ts";
import { unfenced } from "./unfenced-rule.ts";
import { createOp, deleteOp, goneOps, lockSuspicion, sizeSuspicions, unchanged, urlSuspicions } from "./mending.ts";

type Rule = (job: JobFacts, context: RuleContext) => readonly Suspicion[];

export const judgeJob: Rule = (job, context) => {
  if (!job.exists) return ghosts(job);
  // Whatever else is wrong with it would be mended by a status that is not its own.
  const late = unfenced(job, context);
  if (late !== null) return [late];
  return isForeign(job) ? homeless(job, context) : RULES_OF_A_JOB.flatMap((rule) => rule(job, context));
};

/** Neither made here nor imported: Merritt's own, and not ours to judge or to touch. */
const isForeign = ({ history, bid, taken }: JobFacts): boolean =>
  history === null && (bid?.value == null || !taken.includes(bid.value));

/** The finding about its batch speaks for it, where there is one. */
const homeless: Rule = (job) =>
  job.batch !== null
    ? []
    : [
        {
          rule: "IMPORT",
          path: paths.job(job.id),
          what: "was never imported, and its batch is not there",
          sinceMs: since(job),
          mend: { human: "find out in the old queue what became of it, then remove it by hand" },
        },
      ];

/** Written last: a status, else the node of the job. */
const since = (job: JobFacts): number | null => job.status?.node.stat.mtime ?? null;

/** No such job, and yet it is listed somewhere: nothing is lost by taking the listings away. */
function ghosts(job: JobFacts): readonly Suspicion[] {
  const { id } = job;
  const fence = goneOps(paths.job(id));
  const ghost = (rule: "I-07" | "ORPHAN", path: string, version: number): Suspicion => ({
    rule,
    path,
    what: `there is no job ${id}`,
    sinceMs: null,
    mend: { says: `remove ${path}`, ops: [...fence, deleteOp(path, version)] },
  });
  return [
    ...job.entries.map((place) => ghost("I-07", paths.queueEntry(place.state, place.priority, id), 0)),
    ...job.buckets
      .filter(({ batch }) => job.taken.includes(batch))
      .map(({ batch, bucket }) => ghost("I-07", paths.bucketEntry(batch, bucket, id), 0)),
    ...(job.history === null ? [] : [ghost("ORPHAN", paths.fleetJob(id), job.history.node.stat.version)]),
    ...job.callbacks.map(({ retry, version }) => ghost("ORPHAN", paths.callback(id, retry), version)),
  ];
}

const whole: Rule = (job) => {
  const { id } = job;
  const parts = [
    [paths.jobBid(id), job.bid],
    [paths.jobStatus(id), job.status],
    [paths.jobPriority(id), job.priority],
    [paths.jobConfiguration(id), job.configuration],
    [paths.jobSpaceNeeded(id), job.space],
    [paths.fleetJob(id), job.history],
  ] as const;
  return parts.flatMap(([path, fact]): Suspicion[] => {
    if (fact?.value != null) return [];
    const what = fact === null ? "is missing" : "cannot be read";
    return [
      { rule: "I-08", path, what, sinceMs: since(job), mend: path === paths.fleetJob(id) ? newHistory(job) : BY_HAND },
    ];
  });
};

const BY_HAND = {
  human: "compare with a snapshot and write the node again by hand, or delete the whole batch",
} as const;

/** Until files count, a job's history holds nothing that its work depends on: attempts begin anew. */
function newHistory(job: JobFacts): Suspicion["mend"] {
  const state = job.status?.value?.status;
  const early = state === "Pending" || state === "Held" || state === "Estimating" || state === "Provisioning";
  if (!early || job.history !== null) return BY_HAND;
  const event = { op: "fsck", atMs: job.status?.node.stat.mtime ?? 0, kind: "handback", state, by: "fsck" } as const;
  const data = records.fleetJob.encode(newFleetJob({ ...event, detail: "its history was lost" }));
  return {
    says: "begin its history anew: no file counts yet",
    ops: [...unchanged(paths.jobStatus(job.id), job.status), createOp(paths.fleetJob(job.id), data)],
  };
}

/** One entry, where status and priority say. What contradicts them goes, what they ask for is made. */
const entries: Rule = (job) => {
  const [status, priority] = [job.status?.value, job.priority?.value];
  if (status == null || priority == null) return [];
  const { id } = job;
  const right = { state: status.status, priority: clampPriority(priority) };
  const wrong = job.entries.filter((at) => at.state !== right.state || at.priority !== right.priority);
  const missing = job.entries.length === wrong.length && !isFinal(status.status);
  if (wrong.length === 0 && !missing) return [];
  const rightPath = paths.queueEntry(right.state, right.priority, id);
  const first = wrong[0];
  const rule = job.entries.length !== 1 || first === undefined ? "I-01" : first.state === right.state ? "I-03" : "I-02";
  const says = job.entries.map((at) => paths.queueEntry(at.state, at.priority, id)).join(" and ");
  return [
    {
      rule,
      path: paths.jobStatus(id),
      what: `${status.status} with priority ${right.priority}, in ${says === "" ? "no queue" : says}`,
      sinceMs: since(job),
      mend: {
        says: missing ? `put it into ${rightPath}` : "take it out of the wrong queue",
        ops: [
          ...unchanged(paths.jobStatus(id), job.status),
          ...unchanged(paths.jobPriority(id), job.priority),
          ...wrong.map((at) => deleteOp(paths.queueEntry(at.state, at.priority, id), 0)),
          ...(missing ? [createOp(rightPath)] : []),
        ],
      },
    },
  ];
};

const buckets: Rule = (job) => {
  const [status, bid] = [job.status?.value, job.bid?.value];
  if (status == null || bid == null || job.batch === null) return [];
  const { id } = job;
  const right = bucketOf(status.status);
  const wrong = job.buckets.filter(({ batch, bucket }) => batch !== bid || bucket !== right);
  const missing = wrong.length === job.buckets.length;
  if (wrong.length === 0 && !missing) return [];
  const strange = wrong.some(({ batch }) => batch !== bid);
  const says = job.buckets.map(({ batch, bucket }) => paths.bucketEntry(batch, bucket, id)).join(" and ");
  return [
    {
      rule: strange ? "I-06" : job.buckets.length === 1 ? "I-05" : "I-04",
      path: paths.jobStatus(id),
      what: `${status.status} of ${bid}, in ${says === "" ? "no bucket" : says}`,
      sinceMs: since(job),
      mend: {
        says: missing ? `put it into ${right} of ${bid}` : "take it out of the wrong bucket",
        ops: [
          ...unchanged(paths.jobStatus(id), job.status),
          ...unchanged(paths.jobBid(id), job.bid),
          ...unchanged(paths.batchStatus(bid), job.batch),
          ...wrong.map(({ batch, bucket }) => deleteOp(paths.bucketEntry(batch, bucket, id), 0)),
          ...(missing ? [createOp(paths.bucketEntry(bid, right, id))] : []),
        ],
      },
    },
  ];
};

const batchIsThere: Rule = (job) => {
  const bid = job.bid?.value;
  if (bid == null || job.batch !== null) return [];
  const what = `its batch ${bid} is not there`;
  return [{ rule: "I-06", path: paths.jobBid(job.id), what, sinceMs: since(job), mend: withoutBatch(job, bid) }];
};

/** A job that is over and belongs to nothing is clutter; one that is not is somebody's deposit. */
function withoutBatch(job: JobFacts, bid: BatchId): Suspicion["mend"] {
  const over = job.status?.value != null && isFinal(job.status.value.status);
  const parts = jobParts(job);
  if (!over || parts === null) return { human: "restore its batch from a snapshot: the job is not over" };
  const places = [
    ...job.entries.map((at) => paths.queueEntry(at.state, at.priority, job.id)),
    ...job.buckets.map(({ batch, bucket }) => paths.bucketEntry(batch, bucket, job.id)),
  ];
  const ops = [...goneOps(paths.batch(bid)), ...places.map((path) => deleteOp(path, 0)), ...parts];
  return { says: "remove the job: it is over, and so is its batch", ops };
}

/** ZooKeeper refuses the last delete if the job has nodes that are not named here: then nothing is removed. */
function jobParts(job: JobFacts): readonly Op[] | null {
  const { id } = job;
  const facts = [
    [paths.jobBid(id), job.bid],
    [paths.jobStatus(id), job.status],
    [paths.jobPriority(id), job.priority],
    [paths.jobConfiguration(id), job.configuration],
    [paths.jobSpaceNeeded(id), job.space],
    [paths.fleetJob(id), job.history],
  ] as const;
  if (job.lock !== null) return null;
  return [
    ...facts.flatMap(([path, fact]) => (fact === null ? [] : [deleteOp(path, fact.node.stat.version)])),
    deleteOp(paths.job(id), 0),
  ];
}

const locks: Rule = (job, context) => {
  const status = job.status?.value;
  if (job.lock === null || status == null) return [];
  return lockSuspicion({
    path: paths.jobLock(job.id),
    lock: job.lock,
    rests: isLive(status.status) || isMerritts(status.status) ? null : status.status,
    guard: unchanged(paths.jobStatus(job.id), job.status),
    context: isHeldBeside(job, context) ? { ...context, lockMs: context.failMs } : context,
  });
};

/** Its sessions register nothing: a lock of its stage is not suspicious before it is old. */
const isHeldBeside = ({ status, lock }: JobFacts, { beside }: RuleContext): boolean =>
  beside !== null && lock !== null && status?.value?.status === beside.takes && !records.lock.decode(lock.data).ok;

const contents: Rule = (job) => {
  const { id } = job;
  const facts: readonly (readonly [string, { readonly node: { readonly data: Buffer } } | null])[] = [
    [paths.jobStatus(id), job.status],
    [paths.jobConfiguration(id), job.configuration],
    [paths.fleetJob(id), job.history],
  ];
  return facts.flatMap(([path, fact]) =>
    fact === null ? [] : [...sizeSuspicions(path, fact.node.data), ...urlSuspicions(path, fact.node.data)],
  );
};

const RULES_OF_A_JOB: readonly Rule[] = [whole, entries, buckets, batchIsThere, locks, contents];

/** Two looks that saw the same versions saw the same job. */
export const jobStamp = (job: JobFacts): string =>
  [job.bid, job.status, job.priority, job.configuration, job.space, job.history, job.batch]
    .map((fact) => fact?.node.stat.mzxid ?? "-")
    .join();
