/** CreateJob and CreateJobs: everything is checked before anything is made. */
import { CREATES_PER_TRANSACTION, JOBS_PER_SHARD, STEP_JOBS, TRANSACTION_BYTES } from "../limits.ts";
import type { Job } from "../records.ts";
import { type CreateJobs, type NewJob, type Reply, reply } from "./commands.ts";
import { isTooLarge, mergedFields } from "./data.ts";
import { changed } from "./job.ts";
import type { Shard } from "./shard.ts";
import { type Status, STATUS } from "./statuses.ts";

export const DEFAULT_PRIORITY = 500;

interface Plan {
  readonly job: NewJob;
  readonly mock: boolean;
}

export function createJobs(shard: Shard, command: CreateJobs, now: number): Reply {
  if (shard.size + command.jobs.length > JOBS_PER_SHARD) return reply(STATUS.full);
  if (command.jobs.some(({ data }) => isTooLarge(data.text))) return reply(STATUS.malformed("data"));
  const plans = planAll(shard, command);
  if (!("plans" in plans)) return reply(plans);
  const group = isLarge(command.jobs) ? shard.newGroup() : undefined;
  const ids = plans.plans.map((plan, n) => {
    if (group !== undefined && n > 0 && n % STEP_JOBS === 0) shard.cut();
    return createOne(shard, command.tenant, plan, group, now);
  });
  if (group !== undefined) shard.mark(group);
  return reply(STATUS.ok, { kind: "ids", ids, single: command.single });
}

/** Too much for one transaction: it is made in parts, which count when the mark of their group is written. */
function isLarge(jobs: readonly NewJob[]): boolean {
  if (jobs.length <= 1) return false;
  const bytes = jobs.reduce((sum, { data, name }) => sum + 2 * (data.text.length + name.length) + 400, 0);
  return jobs.length > CREATES_PER_TRANSACTION || bytes > TRANSACTION_BYTES;
}

function planAll(shard: Shard, { tenant, jobs }: CreateJobs): { readonly plans: readonly Plan[] } | Status {
  const parents = jobs.map(({ parent }) => (parent === null ? null : ofTenant(shard.job(parent), tenant)));
  const mocked = parents.some((parent) => parent?.mock === true);
  const plans: Plan[] = [];
  const planned = new Map<string, number | null>();
  for (const [n, job] of jobs.entries()) {
    const parent = parents[n] ?? null;
    if (job.parent !== null) {
      const problem = parentProblem(shard, parent);
      if (problem !== null) return problem;
      if (mocked && parent?.mock !== true) return STATUS.mockOfParent;
    }
    const mock = mocked || (job.parent === null && job.mock);
    if (job.unique) {
      const known = existingParent(shard, tenant, job.name, mock) ?? planned.get(`${mock}/${job.name}`);
      if (known != null && known !== job.parent) return STATUS.otherParent;
    }
    if (!planned.has(`${mock}/${job.name}`)) planned.set(`${mock}/${job.name}`, job.parent);
    plans.push({ job, mock });
  }
  return { plans };
}

const ofTenant = (job: Job | null, tenant: string): Job | null => (job?.tenant === tenant ? job : null);

function parentProblem(shard: Shard, parent: Job | null): Status | null {
  if (parent === null) return STATUS.noSuchParent;
  if (!["RUNNING", "RUNQUEUED", "PAUSED"].includes(shard.stateOf(parent))) return STATUS.parentNotRunning;
  return parent.parent === undefined ? null : STATUS.grandchild;
}

function existingParent(shard: Shard, tenant: string, name: string, mock: boolean): number | null {
  const id = shard.named(tenant, name, mock);
  return id === null ? null : (shard.job(id)?.parent ?? null);
}

function createOne(shard: Shard, tenant: string, { job, mock }: Plan, group: string | undefined, now: number): number {
  const known = job.unique ? shard.named(tenant, job.name, mock) : null;
  if (known !== null) {
    updateExisting(shard, known, job, now);
    return known;
  }
  const id = shard.newId();
  shard.create(id, newRecord(shard, { tenant, job, mock, group, at: now }), now);
  return id;
}

/** The same data changes nothing at all; other data takes schedule and priority with it. */
function updateExisting(shard: Shard, id: number, given: NewJob, now: number): void {
  const old = shard.job(id);
  const merged = old === null || !given.overwrite ? null : mergedFields(old, given.data);
  if (old === null || merged === null) return;
  const repeat = old.mock === true || old.retryAfter !== undefined ? old.repeat : (given.repeat ?? undefined);
  const priority = given.priority ?? DEFAULT_PRIORITY;
  shard.putIfOther(id, changed(old, { repeat, priority, ...merged }), now);
}

interface Birth extends Plan {
  readonly tenant: string;
  readonly group: string | undefined;
  readonly at: number;
}

export function newRecord(shard: Shard, { tenant, job, mock, group: grp, at }: Birth): Job {
  const parent = job.parent === null ? null : shard.job(job.parent);
  // A parent that waits already has let its children go.
  const gated = parent !== null && parent.state !== "PAUSED";
  // One shape for all: what is absent is undefined, which is not written.
  return {
    v: 1,
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
    grp,
    mock: mock ? true : undefined,
    maxRunTime: job.maxRunTime ?? undefined,
    onFinish: job.onFinish ?? undefined,
    data: job.data.text,
    dataRef: job.data.ref,
    ev: [[at, "create"]],
  };
}
