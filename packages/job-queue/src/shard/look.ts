/** Commands that only look. */
import { ANSWER_BYTES, LIST_MOST, LIST_ROWS } from "../limits.ts";
import { matchesName, parseNames } from "../names.ts";
import type { Job } from "../records.ts";
import type { ListJobs, OneJob } from "./commands.ts";
import { type JobRecord, type ListedView, type Reply, reply } from "./views.ts";
import { shownData } from "./data.ts";
import { viewOf } from "./job.ts";
import type { Shard } from "./shard.ts";
import { STATUS } from "./statuses.ts";

export const ownJob = (shard: Shard, { tenant, id }: { readonly tenant: string; readonly id: number }): Job | null => {
  const job = shard.job(id);
  return job?.tenant === tenant ? job : null;
};

export function queryJob(shard: Shard, command: OneJob): Reply {
  const job = ownJob(shard, command);
  if (job === null) return reply(STATUS.noSuchJob);
  return reply(STATUS.ok, { kind: "job", job: viewOf(command.id, job, shard.stateOf(job)) });
}

/** Without its runs, which no owner has in memory. */
export function describeJob(shard: Shard, command: OneJob): Reply {
  const job = ownJob(shard, command);
  if (job === null) return reply(STATUS.noSuchJob);
  return reply(STATUS.ok, { kind: "record", record: recordOf(shard, command.id, job) });
}

function recordOf(shard: Shard, jobID: number, job: Job): JobRecord {
  return {
    jobID,
    tenant: job.tenant,
    name: job.name,
    version: shard.versionOf(jobID) ?? 0,
    state: shard.stateOf(job),
    owner: job.lease?.worker ?? "",
    step: job.step ?? "",
    events: job.ev,
    data: shownData(job),
    dataRef: job.dataRef ?? null,
    priority: job.priority,
    repeat: job.repeat ?? "",
    retryAfter: job.retryAfter ?? "",
    parent: job.parent ?? null,
    children: [...shard.family(jobID).ids],
    unique: job.unique === true,
    mock: job.mock === true,
    created: job.created,
    lastRun: job.lastRun ?? null,
    nextRun: job.nextRun,
    reoffers: job.reoffers ?? 0,
    retryAfterCount: job.retryAfterCount ?? 0,
    maxRunTime: job.maxRunTime ?? null,
    onFinish: job.onFinish ?? null,
    exit: null,
    result: null,
    resultRef: null,
    unreadable: shard.unreadable.get(jobID) ?? null,
    runs: [],
  };
}

export function listJobs(shard: Shard, command: ListJobs): Reply {
  const { after = 0, limit = Infinity } = command;
  const fits = filterOf(shard, command);
  const ids: number[] = [];
  for (const [id, job] of shard.jobs()) if (id > after && fits(job)) ids.push(id);
  ids.sort((a, b) => a - b);
  const most = Math.min(limit, command.limit === undefined ? LIST_ROWS : LIST_MOST);
  const jobs = rowsOf(shard, ids.slice(0, most));
  return reply(STATUS.ok, {
    kind: "list",
    jobs,
    next: ids.length > jobs.length ? (jobs.at(-1)?.jobID ?? null) : null,
  });
}

/** As many as one answer takes, and one at least. */
function rowsOf(shard: Shard, ids: readonly number[]): readonly ListedView[] {
  const rows: ListedView[] = [];
  let bytes = 0;
  for (const id of ids) {
    const job = shard.job(id);
    if (job === null) continue;
    const row = rowOf(shard, id, job);
    bytes += row.data.length + (row.dataRef?.bytes ?? 0);
    if (rows.length > 0 && bytes > ANSWER_BYTES) break;
    rows.push(row);
  }
  return rows;
}

/** A list shows what stands in the records: schedules as they were written. */
function rowOf(shard: Shard, id: number, job: Job): ListedView {
  const { repeat = "", step = "", lease } = job;
  return { ...viewOf(id, job, shard.stateOf(job)), repeat, owner: lease?.worker ?? "", step };
}

function filterOf(shard: Shard, { tenant, states, names, repeating }: ListJobs): (job: Job) => boolean {
  const matches = names?.map(parseNames);
  return (job) =>
    job.tenant === tenant &&
    (repeating === undefined || (job.repeat !== undefined) === repeating) &&
    (states?.includes(shard.stateOf(job)) ?? true) &&
    (matches?.some((match) => matchesName(match, job.name)) ?? true);
}

export function countJobs(shard: Shard, tenant: string | null, now: number): Reply {
  const usage = tenant === null ? shard.usage.all(now) : [shard.usage.of(tenant, now)];
  return reply(STATUS.ok, { kind: "counts", types: shard.counts(tenant), usage });
}
