/** Jobs and runs as the API shows them. */
import {
  hasLargeNumbers,
  type JobRecord,
  type ListedView,
  type RunView,
  type TenantUsage,
  type TypeCounts,
} from "@sluice/job-queue";
import {
  codeOfRun,
  type JobRun,
  type QueuedJob,
  type QueuedJobDetail,
  type QueueTenant,
  type QueueType,
} from "@sluice/wire";

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));
/** From the document's form, which is UTC. */
const isoOfText = (text: string): string | null =>
  text === "" ? null : new Date(`${text.replace(" ", "T")}Z`).toISOString();

export function showListed(tenant: string, view: ListedView): QueuedJob {
  const { jobID, name, state, priority, created, nextRun, lastRun, repeat, retryAfter, owner, step } = view;
  return {
    jobID,
    tenant,
    name,
    state: state as QueuedJob["state"],
    priority,
    created: isoOfText(created) ?? iso(0),
    nextRun: isoOfText(nextRun),
    lastRun: isoOfText(lastRun),
    repeat,
    retryAfter,
    owner,
    step,
  };
}

export const showRun = (run: RunView): JobRun => ({
  jobID: run.jobID,
  tenant: run.tenant,
  name: run.name,
  owner: run.worker,
  outcome: run.outcome,
  exit: run.exit,
  code: codeOfRun(run.exit, run.outcome),
  result: run.result,
  result_bytes: resultBytes(run),
  created: iso(run.created),
  started: isoOrNull(run.started),
  ended: iso(run.ended),
});

const resultBytes = ({ result, resultRef }: Pick<RunView, "result" | "resultRef">): number | null =>
  resultRef?.bytes ?? (result === null ? null : Buffer.byteLength(result));

/** As JSON text: the data stands in it byte for byte. */
export function printDetail(record: JobRecord): string {
  const [last] = record.runs;
  const shown: Omit<QueuedJobDetail, "data"> = {
    jobID: record.jobID,
    tenant: record.tenant,
    name: record.name,
    state: record.state,
    priority: record.priority,
    created: iso(record.created),
    nextRun: isoOrNull(record.nextRun),
    lastRun: isoOrNull(record.lastRun),
    repeat: record.repeat,
    retryAfter: record.retryAfter,
    parentJobID: record.parent,
    children: [...record.children],
    owner: record.owner,
    step: record.step,
    unique: record.unique,
    mock: record.mock,
    retryAfterCount: record.retryAfterCount,
    reoffers: record.reoffers,
    maxRunTime: record.maxRunTime,
    onFinish: record.onFinish,
    exit: record.exit,
    code: last === undefined ? null : codeOfRun(last.exit, last.outcome),
    result_bytes: resultBytes(record),
    unreadable: record.unreadable,
    events: record.events.map(([at, what, by]) => ({ at: iso(at), what, by: by ?? "" })),
    runs: record.runs.map(showRun),
    ...(hasLargeNumbers(record.data) ? { data_text: record.data } : {}),
  };
  return `${JSON.stringify(shown).slice(0, -1)},"data":${record.data}}`;
}

export const showType = ({ name, states, ready, oldestDue }: TypeCounts): QueueType => ({
  name,
  counts: { ...states },
  ready,
  oldest_due: isoOrNull(oldestDue),
});

/** The types of each tenant added up; by name. */
export function showTenants(types: readonly TypeCounts[], usage: readonly TenantUsage[]): QueueTenant[] {
  const costs = new Map(usage.map((each) => [each.tenant, each]));
  const byTenant = new Map<string, TypeCounts[]>();
  for (const type of types) byTenant.set(type.tenant, [...(byTenant.get(type.tenant) ?? []), type]);
  return [...byTenant]
    .map(([tenant, own]) => ({ tenant, ...sumOf(own), ...costOf(costs.get(tenant)) }))
    .sort((a, b) => (a.tenant < b.tenant ? -1 : 1));
}

function costOf(usage: TenantUsage | undefined): Pick<QueueTenant, "running" | "worker_seconds"> {
  if (usage === undefined) return { running: null, worker_seconds: null };
  return { running: usage.running, worker_seconds: (usage.endedMs + usage.runningMs) / 1_000 };
}

function sumOf(types: readonly TypeCounts[]): Pick<QueueTenant, "counts" | "ready" | "oldest_due"> {
  const counts: QueueTenant["counts"] = {};
  for (const { states } of types)
    for (const [state, count] of Object.entries(states) as [QueuedJob["state"], number][])
      counts[state] = (counts[state] ?? 0) + count;
  const due = types.flatMap(({ oldestDue }) => (oldestDue === null ? [] : [oldestDue]));
  return {
    counts,
    ready: types.reduce((sum, { ready }) => sum + ready, 0),
    oldest_due: due.length === 0 ? null : iso(due.reduce((least, each) => Math.min(least, each))),
  };
}
