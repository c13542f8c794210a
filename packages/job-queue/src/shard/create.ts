/** CreateJob and CreateJobs: everything is checked before anything is made. */
import { CREATES_PER_TRANSACTION, JOBS_PER_SHARD, TRANSACTION_BYTES, TRANSACTION_BYTES_MAX } from "../limits.ts";
import type { Job } from "../records.ts";
import { SYSTEM_TENANT } from "../tenants.ts";
import { wholeJob } from "../whole-job.ts";
import type { CreateJobs, NewJob } from "./commands.ts";
import { birthProblem, sealProblem } from "./sealed.ts";
import { type Reply, reply } from "./views.ts";
import { withStates } from "./container-states.ts";
import { type DataFields, isTooLarge, mergedFields } from "./data.ts";
import { changed } from "./job.ts";
import type { Shard } from "./shard.ts";
import { type Status, STATUS } from "./statuses.ts";
import { bytesOf } from "./written.ts";

export const DEFAULT_PRIORITY = 500;

interface Plan {
  readonly job: NewJob;
  readonly mock: boolean;
  /** What will be written of it: of a unique one that is there already, what becomes of that one. */
  readonly record: Job;
}

export interface CreateOptions {
  /** Live jobs that the tenant may have. */
  readonly most?: number;
  /** All of it must fit into one transaction, beside this much that stands there already; else it is refused. */
  readonly beside?: number;
}

export function createJobs(shard: Shard, command: CreateJobs, now: number, options: CreateOptions = {}): Reply {
  const { most = shard.jobsPerTenant, beside } = options;
  const full = roomProblem(shard, command, most);
  if (full !== null) return reply(full);
  if (command.jobs.some(({ data }) => isTooLarge(data.text))) return reply(STATUS.malformed("data"));
  const plans = planAll(shard, command, now);
  if (!("plans" in plans)) return reply(plans);
  const isLarge = isTooMuch(plans.plans, beside);
  if (isLarge && beside !== undefined) return reply(STATUS.malformed("then"));
  const ids = isLarge
    ? createInParts(shard, command.tenant, plans.plans, now)
    : plans.plans.map((plan) => createOne(shard, command.tenant, plan, now));
  return reply(STATUS.ok, { kind: "ids", ids, single: command.single });
}

function roomProblem(shard: Shard, { tenant, jobs }: CreateJobs, most: number): Status | null {
  if (tenant !== SYSTEM_TENANT && shard.sizeOf(tenant) + jobs.length > most) return STATUS.tenantFull(tenant, most);
  return shard.size + jobs.length > JOBS_PER_SHARD ? STATUS.full : null;
}

/** Too much for one transaction: it is made in parts, which count when the mark of their group is written. */
function isTooMuch(plans: readonly Plan[], beside?: number): boolean {
  if (plans.length <= 1 && beside === undefined) return false;
  if (plans.length > CREATES_PER_TRANSACTION) return true;
  const bytes = plans.reduce((sum, { record }) => sum + bytesOf(record), beside ?? 0);
  // What cannot be made in parts may fill a transaction.
  return bytes > (beside === undefined ? TRANSACTION_BYTES : TRANSACTION_BYTES_MAX);
}

/** Jobs that are there already, one of this command's own too, are changed when the mark stands: not before they count. */
function createInParts(shard: Shard, tenant: string, plans: readonly Plan[], now: number): readonly number[] {
  const group = `g${shard.newToken()}`;
  const later: (readonly [number, NewJob])[] = [];
  const ids = plans.map((plan) => {
    const known = knownJob(shard, tenant, plan);
    if (known !== null) {
      later.push([known, plan.job]);
      return known;
    }
    shard.cut();
    return createNew(shard, changed(plan.record, { grp: group }), now);
  });
  if (later.length < plans.length) shard.mark(group);
  for (const [id, job] of later) {
    shard.cut();
    updateExisting(shard, id, job, now);
  }
  return ids;
}

function planAll(
  shard: Shard,
  { tenant, jobs }: CreateJobs,
  now: number,
): { readonly plans: readonly Plan[] } | Status {
  const parents = jobs.map(({ parent }) => (parent === null ? null : ofTenant(shard.job(parent), tenant)));
  const mocked = parents.some((parent) => parent?.mock === true);
  const plans: Plan[] = [];
  /** What a unique job would find, by world and name. */
  const found = new Map<string, Job>();
  for (const [n, job] of jobs.entries()) {
    const unsealed = birthProblem(tenant, job);
    if (unsealed !== null) return unsealed;
    const parent = parents[n] ?? null;
    if (job.parent !== null) {
      const problem = parentProblem(shard, parent);
      if (problem !== null) return problem;
      if (mocked && parent?.mock !== true) return STATUS.mockOfParent;
    }
    const mock = mocked || (job.parent === null && job.mock);
    const key = `${mock}/${job.name}`;
    const known = found.get(key) ?? existing(shard, tenant, job.name, mock);
    if (job.unique && known !== null) {
      const merged = job.overwrite ? mergedFields(known, job.data) : null;
      const problem = mergeProblem(tenant, { job, mock }, known, merged);
      if (problem !== null) return problem;
      const record = job.overwrite ? updated(known, job, merged) : known;
      found.set(key, record);
      plans.push({ job, mock, record: withStates(known, record) });
    } else {
      const record = newRecord(shard, { tenant, job, mock, at: now });
      if (known === null) found.set(key, record);
      plans.push({ job, mock, record });
    }
  }
  return { plans };
}

function mergeProblem(
  tenant: string,
  { job, mock }: Pick<Plan, "job" | "mock">,
  known: Job,
  merged: DataFields | null,
): Status | null {
  if (known.parent !== undefined && known.parent !== job.parent) return STATUS.otherParent;
  if (job.overwrite && known.retryAfter !== undefined && job.repeat !== null && !mock)
    return STATUS.retryAfterAndRepeat;
  if (merged === null) return null;
  if (isTooLarge(merged.data)) return STATUS.malformed("data");
  return sealProblem(tenant, { ...known, name: job.name }, { ...merged, name: job.name });
}

const ofTenant = (job: Job | null, tenant: string): Job | null => (job?.tenant === tenant ? job : null);

function parentProblem(shard: Shard, parent: Job | null): Status | null {
  if (parent === null) return STATUS.noSuchParent;
  if (!["RUNNING", "RUNQUEUED", "PAUSED"].includes(shard.stateOf(parent))) return STATUS.parentNotRunning;
  return parent.parent === undefined ? null : STATUS.grandchild;
}

function existing(shard: Shard, tenant: string, name: string, mock: boolean): Job | null {
  const id = shard.named(tenant, name, mock);
  return id === null ? null : shard.job(id);
}

const knownJob = (shard: Shard, tenant: string, { job, mock }: Plan): number | null =>
  job.unique ? shard.named(tenant, job.name, mock) : null;

function createOne(shard: Shard, tenant: string, plan: Plan, now: number): number {
  const known = knownJob(shard, tenant, plan);
  if (known === null) return createNew(shard, plan.record, now);
  updateExisting(shard, known, plan.job, now);
  return known;
}

function createNew(shard: Shard, record: Job, now: number): number {
  const id = shard.newId();
  shard.create(id, record, now);
  return id;
}

function updateExisting(shard: Shard, id: number, given: NewJob, now: number): void {
  const old = shard.job(id);
  if (old !== null && given.overwrite) shard.putIfOther(id, updated(old, given, mergedFields(old, given.data)), now);
}

/**
 * Its repeat, data and priority are updated. With other data, what is not said is as for a new job; with the same data it
 * stays as it was, so that asking twice for the same changes nothing.
 */
function updated(old: Job, given: NewJob, merged: DataFields | null): Job {
  const unsaid = merged === null ? old : { repeat: undefined, priority: DEFAULT_PRIORITY };
  const repeats = old.mock !== true && old.retryAfter === undefined;
  const repeat = repeats ? (given.repeat ?? unsaid.repeat) : old.repeat;
  const priority = given.priority ?? unsaid.priority;
  return changed(old, { repeat, priority, ...merged });
}

interface Birth {
  readonly tenant: string;
  readonly job: NewJob;
  readonly mock: boolean;
  readonly at: number;
}

export function newRecord(shard: Shard, { tenant, job, mock, at }: Birth): Job {
  const parent = job.parent === null ? null : shard.job(job.parent);
  // A parent that waits already has let its children go.
  const gated = parent !== null && parent.state !== "PAUSED";
  return wholeJob({
    name: job.name,
    tenant,
    state: gated ? "PAUSED" : "QUEUED",
    priority: job.priority ?? DEFAULT_PRIORITY,
    nextRun: job.firstRun ?? at,
    created: at,
    repeat: mock ? undefined : (job.repeat ?? undefined),
    unique: job.unique ? true : undefined,
    retryAfter: job.retryAfter ?? undefined,
    retryAfterCount: job.data.retryAfterCount ?? undefined,
    parent: job.parent ?? undefined,
    gate: gated ? (parent.phase ?? 0) + 1 : undefined,
    mock: mock ? true : undefined,
    maxRunTime: job.maxRunTime ?? undefined,
    onFinish: job.onFinish ?? undefined,
    data: job.data.text,
    dataRef: job.data.ref,
    ev: [[at, "create"]],
  });
}
