/** The whole import as a list that can be read before anything is written. Pure. */
import type { BatchId } from "@sluice/queue-core";
import type { OldBatch, OldJob, OldTree, TargetBatch, TargetFacts } from "./old-tree.ts";
import type { OldFiles } from "./payload.ts";
import { batchUuidIn, planBatch, type PlannedBatch } from "./plan-batch.ts";
import { type Cannot, importOp, planJob, type PlannedJob } from "./plan-job.ts";

export interface PlanOptions {
  /** It stays where it is: `target` is the same tree. */
  readonly inPlace: boolean;
  readonly files: OldFiles | null;
  readonly assumeExpanded: boolean;
  readonly nowMs: number;
}

export interface BatchToBring {
  readonly old: OldBatch;
  readonly plan: PlannedBatch;
  /** It stands in the target already, brought by a run that was broken off. */
  readonly framed: boolean;
  /** What stands under /fleet of it, though it was not brought to its end. */
  readonly there: TargetBatch | null;
  readonly jobs: readonly { readonly old: OldJob; readonly plan: PlannedJob }[];
}

export interface LeftOut {
  readonly batch: BatchId | null;
  readonly problems: readonly Cannot[];
}

export interface ImportPlan {
  readonly bring: readonly BatchToBring[];
  /** With every reason; a batch is brought whole or not at all. */
  readonly leftOut: readonly LeftOut[];
  /** Brought by an earlier run. */
  readonly already: { readonly batches: number; readonly jobs: number };
}

export function planImport(tree: OldTree, target: TargetFacts, options: PlanOptions): ImportPlan {
  const uuids = new Map(tree.batches.map((batch) => [batch.id, batchUuidIn(batch)]));
  const rules = { ...options, knowsStoring: tree.knowsStoring, batchUuidOf: (id: BatchId) => uuids.get(id) };
  const jobsOf = new Map<BatchId, { old: OldJob; plan: PlannedJob | Cannot }[]>();
  const homeless: Cannot[] = [];
  for (const old of tree.jobs) {
    const plan = planJob(old, rules);
    const batch = plan.kind === "bring" ? plan.batch : old.buckets[0]?.batch;
    if (batch === undefined || !uuids.has(batch)) {
      if (options.inPlace && target.jobs.has(old.id)) continue;
      homeless.push(
        plan.kind === "cannot" ? plan : { kind: "cannot", path: `/jobs/${old.id}`, why: "its batch is gone" },
      );
    } else jobsOf.set(batch, [...(jobsOf.get(batch) ?? []), { old, plan }]);
  }
  const named = new Set(target.jobNames);
  const bring: BatchToBring[] = [];
  const leftOut: LeftOut[] = homeless.map((problem) => ({ batch: null, problems: [problem] }));
  const already = { batches: 0, jobs: 0 };
  for (const old of tree.batches) {
    const jobs = jobsOf.get(old.id) ?? [];
    if (isDone(old, jobs.length, target, options.inPlace)) {
      already.batches += 1;
      already.jobs += jobs.length;
      continue;
    }
    const planned = jobs.flatMap(({ plan }) => (plan.kind === "bring" ? [plan] : []));
    const obstacles = [
      ...jobs.flatMap(({ plan }) => (plan.kind === "cannot" ? [plan] : [])),
      ...(options.inPlace ? [] : takenBy(old, jobs, target)),
    ];
    // What its jobs say decides what it becomes: where one says nothing, nobody can tell.
    const plan = obstacles[0] ?? planBatch(old, planned, options);
    if (plan.kind === "cannot") {
      leftOut.push({ batch: old.id, problems: obstacles.length > 0 ? obstacles : [plan] });
      continue;
    }
    const open = jobs.filter((job) => !target.jobs.has(job.old.id));
    already.jobs += jobs.length - open.length;
    bring.push({
      old,
      plan,
      framed: !options.inPlace && target.takenBatches.has(old.id),
      there: target.batches.get(old.id) ?? null,
      jobs: open.flatMap(({ old: job, plan: each }) =>
        each.kind === "bring" ? [{ old: job, plan: namedOnce(each, named) }] : [],
      ),
    });
  }
  return { bring, leftOut, already };
}

/** Two jobs of one name: the first of them is found by it. */
function namedOnce(plan: PlannedJob, named: Set<string>): PlannedJob {
  if (plan.uuid === null) return plan;
  if (named.has(plan.uuid)) return { ...plan, uuid: null, notes: [...plan.notes, "another job has its UUID"] };
  named.add(plan.uuid);
  return plan;
}

/** What has jobs is brought when the record of its expansion stands there, which is written last. */
function isDone(old: OldBatch, jobs: number, target: TargetFacts, inPlace: boolean): boolean {
  const there = target.batches.get(old.id);
  if (there === undefined || (!there.isExpanded && jobs > 0)) return false;
  if (!there.isExpanded && !there.entries.some(({ state }) => state === "Pending" || state === "Held")) return false;
  return inPlace || target.takenBatches.get(old.id) === (batchUuidIn(old) ?? "");
}

/** Numbers are kept: where another batch or job has one, it cannot go. */
function takenBy(old: OldBatch, jobs: readonly { readonly old: OldJob }[], target: TargetFacts): readonly Cannot[] {
  const there = target.takenBatches.get(old.id);
  const problems: Cannot[] = [];
  if (there !== undefined && there !== (batchUuidIn(old) ?? "")) {
    problems.push({ kind: "cannot", path: `/batches/${old.id}`, why: "another batch has this number in the target" });
  }
  for (const { old: job } of jobs) {
    if (target.takenJobs.has(job.id) && target.jobs.get(job.id) !== importOp(job.czxid)) {
      problems.push({ kind: "cannot", path: `/jobs/${job.id}`, why: "another job has this number in the target" });
    }
  }
  return problems;
}
