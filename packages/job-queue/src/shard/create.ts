/** CreateJob and CreateJobs: everything is checked before anything is made. */
import { CREATES_PER_TRANSACTION, INLINE_DATA_BYTES, JOBS_PER_SHARD, STEP_JOBS, TRANSACTION_BYTES } from "../limits.ts";
import type { Job } from "../records.ts";
import { SYSTEM_TENANT } from "../tenants.ts";
import { wholeJob } from "../whole-job.ts";
import type { CreateJobs, NewJob } from "./commands.ts";
import { birthProblem, sealProblem } from "./sealed.ts";
import { type Reply, reply } from "./views.ts";
import { type DataFields, dataFields, isTooLarge, mergedFields } from "./data.ts";
import { changed } from "./job.ts";
import type { Shard } from "./shard.ts";
import { type Status, STATUS } from "./statuses.ts";

export const DEFAULT_PRIORITY = 500;

interface Plan {
  readonly job: NewJob;
  readonly mock: boolean;
  /** What it may take in a transaction, with the data that it is merged into. */
  readonly bytes: number;
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
  const plans = planAll(shard, command);
  if (!("plans" in plans)) return reply(plans);
  const isLarge = isTooMuch(plans.plans, beside ?? 0);
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

/** Of paths, and of what every record holds. */
const RECORD_OVERHEAD = 400;

/** What a job may take in a transaction: JSON within JSON is at most twice as long, data in a node of its own is not. */
export function bytesOf(name: string, data: string): number {
  const bytes = Buffer.byteLength(data);
  return (bytes <= INLINE_DATA_BYTES ? 2 * bytes : bytes) + 2 * Buffer.byteLength(name) + RECORD_OVERHEAD;
}

/** Too much for one transaction: it is made in parts, which count when the mark of their group is written. */
function isTooMuch(plans: readonly Plan[], beside: number): boolean {
  if (plans.length + beside <= 1) return false;
  const bytes = plans.reduce((sum, plan) => sum + plan.bytes, beside);
  return plans.length > CREATES_PER_TRANSACTION || bytes > TRANSACTION_BYTES;
}

/** Jobs that are there already, one of this command's own too, are changed when the mark stands: not before they count. */
function createInParts(shard: Shard, tenant: string, plans: readonly Plan[], now: number): readonly number[] {
  const group = `g${shard.newToken()}`;
  const parts = new Parts(shard);
  const later: (readonly [number, Plan])[] = [];
  const ids = plans.map((plan) => {
    const known = knownJob(shard, tenant, plan);
    if (known !== null) {
      later.push([known, plan]);
      return known;
    }
    parts.add(plan.bytes);
    return createNew(shard, tenant, plan, group, now);
  });
  if (later.length < plans.length) shard.mark(group);
  shard.cut();
  for (const [id, { job, bytes }] of later) {
    parts.add(bytes);
    updateExisting(shard, id, job, now);
  }
  return ids;
}

/** Cuts before what would make a transaction too large. */
class Parts {
  readonly #shard: Shard;
  #bytes = 0;
  #count = 0;

  constructor(shard: Shard) {
    this.#shard = shard;
  }

  add(bytes: number): void {
    if (this.#count === STEP_JOBS || (this.#count > 0 && this.#bytes + bytes > TRANSACTION_BYTES)) {
      this.#shard.cut();
      [this.#bytes, this.#count] = [0, 0];
    }
    this.#bytes += bytes;
    this.#count += 1;
  }
}

function planAll(shard: Shard, { tenant, jobs }: CreateJobs): { readonly plans: readonly Plan[] } | Status {
  const parents = jobs.map(({ parent }) => (parent === null ? null : ofTenant(shard.job(parent), tenant)));
  const mocked = parents.some((parent) => parent?.mock === true);
  const plans: Plan[] = [];
  /** What a unique job would find, by world and name. */
  const found = new Map<string, Found>();
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
    let { text } = job.data;
    if (job.unique && known !== null) {
      if (known.parent !== undefined && known.parent !== job.parent) return STATUS.otherParent;
      if (job.overwrite && known.offersAgain && job.repeat !== null && !mock) return STATUS.retryAfterAndRepeat;
      const merged = job.overwrite ? mergedFields(known, job.data) : null;
      if (merged !== null && isTooLarge(merged.data)) return STATUS.malformed("data");
      const sealed = merged && sealProblem(tenant, { ...known, name: job.name }, { ...merged, name: job.name });
      if (sealed !== null) return sealed;
      found.set(key, { ...known, ...merged });
      text = merged?.data ?? "";
    } else if (known === null)
      found.set(key, {
        parent: job.parent ?? undefined,
        offersAgain: job.retryAfter !== null,
        ...dataFields(job.data),
      });
    plans.push({ job, mock, bytes: bytesOf(job.name, text) });
  }
  return { plans };
}

const ofTenant = (job: Job | null, tenant: string): Job | null => (job?.tenant === tenant ? job : null);

function parentProblem(shard: Shard, parent: Job | null): Status | null {
  if (parent === null) return STATUS.noSuchParent;
  if (!["RUNNING", "RUNQUEUED", "PAUSED"].includes(shard.stateOf(parent))) return STATUS.parentNotRunning;
  return parent.parent === undefined ? null : STATUS.grandchild;
}

interface Found extends DataFields {
  readonly parent: number | undefined;
  /** It has a retryAfter. */
  readonly offersAgain: boolean;
}

function existing(shard: Shard, tenant: string, name: string, mock: boolean): Found | null {
  const id = shard.named(tenant, name, mock);
  const job = id === null ? null : shard.job(id);
  return job && { data: job.data, dataRef: job.dataRef, parent: job.parent, offersAgain: job.retryAfter !== undefined };
}

const knownJob = (shard: Shard, tenant: string, { job, mock }: Plan): number | null =>
  job.unique ? shard.named(tenant, job.name, mock) : null;

function createOne(shard: Shard, tenant: string, plan: Plan, now: number): number {
  const known = knownJob(shard, tenant, plan);
  if (known === null) return createNew(shard, tenant, plan, undefined, now);
  updateExisting(shard, known, plan.job, now);
  return known;
}

function createNew(shard: Shard, tenant: string, { job, mock }: Plan, group: string | undefined, now: number): number {
  const id = shard.newId();
  shard.create(id, newRecord(shard, { tenant, job, mock, group, at: now }), now);
  return id;
}

/**
 * Its repeat, data and priority are updated. With other data, what is not said is as for a new job; with the same data it
 * stays as it was, so that asking twice for the same changes nothing.
 */
function updateExisting(shard: Shard, id: number, given: NewJob, now: number): void {
  const old = shard.job(id);
  if (old === null || !given.overwrite) return;
  const merged = mergedFields(old, given.data);
  const unsaid = merged === null ? old : { repeat: undefined, priority: DEFAULT_PRIORITY };
  const repeats = old.mock !== true && old.retryAfter === undefined;
  const repeat = repeats ? (given.repeat ?? unsaid.repeat) : old.repeat;
  const priority = given.priority ?? unsaid.priority;
  shard.putIfOther(id, changed(old, { repeat, priority, ...merged }), now);
}

interface Birth extends Omit<Plan, "bytes"> {
  readonly tenant: string;
  readonly group: string | undefined;
  readonly at: number;
}

export function newRecord(shard: Shard, { tenant, job, mock, group: grp, at }: Birth): Job {
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
    grp,
    mock: mock ? true : undefined,
    maxRunTime: job.maxRunTime ?? undefined,
    onFinish: job.onFinish ?? undefined,
    data: job.data.text,
    dataRef: job.data.ref,
    ev: [[at, "create"]],
  });
}
