/** GetJob and GetJobs. */
import { parseNames, matchesName } from "../names.ts";
import { ANSWER_BYTES, CONNECTION_LEASE_MS, LEASE_MS, TAKEN_MAX } from "../limits.ts";
import type { Job } from "../records.ts";
import { applyModifiers, parseModifiers } from "../time/modifiers.ts";
import type { Caller, GetJobs } from "./commands.ts";
import { type ChildView, type Reply, reply, type Taken, type TakenView } from "./views.ts";
import { shownData } from "./data.ts";
import { BEYOND_CALENDAR, jobView, moved, refOf } from "./job.ts";
import { wakeParentOf } from "./parents.ts";
import type { Shard } from "./shard.ts";
import { STATUS } from "./statuses.ts";

export function getJobs(shard: Shard, command: GetJobs, now: number): Reply {
  const { wanted, limit, single } = command;
  const jobs: Taken[] = [];
  let looked = 0;
  let bytes = 0;
  for (; looked < limit && bytes < ANSWER_BYTES; looked++) {
    const best = shard.index.best(wanted);
    if (best === null) break;
    shard.cut();
    const taken = takeOne(shard, best.id, command, { now, room: ANSWER_BYTES - bytes });
    if (taken === null) continue;
    jobs.push(taken);
    bytes += bytesOf(taken.view);
  }
  // A job that turned out to be poison was found, and is not given to anybody.
  return looked === 0 ? reply(STATUS.noJobFound) : reply(STATUS.ok, { kind: "taken", jobs, single });
}

/** What it brings, with what comes from the store of blobs. */
const bytesOf = (view: TakenView): number => ownBytes(view) + childBytes(view);

const ownBytes = ({ data, dataRef, parentData = "", parentDataRef }: TakenView): number =>
  data.length + parentData.length + (dataRef?.bytes ?? 0) + (parentDataRef?.bytes ?? 0);

const childBytes = ({ finishedChildJobs = [], cancelledChildJobs = [] }: TakenView): number =>
  [...finishedChildJobs, ...cancelledChildJobs].reduce(
    (sum, { data, dataRef }) => sum + (data?.length ?? 0) + (dataRef?.bytes ?? 0),
    0,
  );

interface Taking {
  readonly now: number;
  /** Bytes that the answer still takes. */
  readonly room: number;
}

type Asked = Pick<GetJobs, "caller" | "leaseMs" | "limit">;

/** A certain job, which is due. False: it turned out to be nobody's. */
export const takeById = (shard: Shard, id: number, asked: Asked, now: number): boolean =>
  takeOne(shard, id, asked, { now, room: 0 }) !== null;

function takeOne(shard: Shard, id: number, { caller, leaseMs, limit }: Asked, { now, room }: Taking): Taken | null {
  const job = shard.job(id);
  if (job === null) throw new Error(`the index holds ${id}, which is no job`);
  const nextRun = nextOffer(job, now, limit);
  const why = whyNobody(shard, job, nextRun);
  if (why !== null) {
    poison(shard, id, job, why, now);
    return null;
  }
  const token = shard.newToken();
  const counted = job.retryAfter !== undefined && !job.name.startsWith("manual");
  const taken = moved(job, "take", job.retryAfter === undefined ? "RUNNING" : "RUNQUEUED", now, {
    nextRun: nextRun ?? job.nextRun,
    lastRun: now,
    lease: { token, worker: caller.worker, kind: caller.kind, ttl: leaseMs ?? usualLease(caller) },
    // The taker before may still be at it.
    reoffers: job.state === "RUNQUEUED" ? Math.max(1, job.reoffers ?? 0) : job.reoffers,
    retryAfterCount: counted ? (job.retryAfterCount ?? 0) + 1 : job.retryAfterCount,
  });
  shard.put(id, taken, now);
  return { token, view: takenView(shard, id, job, room) };
}

const usualLease = ({ kind }: Caller): number => (kind === "connection" ? CONNECTION_LEASE_MS : LEASE_MS);

/** Why it is given to nobody any more; null: it is. */
function whyNobody(shard: Shard, job: Job, nextRun: number | null): string | null {
  if (nextRun === null) return BEYOND_CALENDAR;
  if ((job.retryAfterCount ?? 0) >= TAKEN_MAX) return `taken ${job.retryAfterCount} times without an end`;
  return isCrashing(shard, job) ? "its type is marked as crashing" : null;
}

/** What nobody gets any more. Its step says why. */
export function poison(shard: Shard, id: number, job: Job, why: string, now: number): void {
  shard.put(id, moved(job, "poison", "FAILED", now, { lease: undefined, step: why }), now);
  wakeParentOf(shard, job, now);
}

/** When it is offered again, whether or not somebody has it: only with retryAfter. Null: never, by the calendar. */
function nextOffer(job: Job, now: number, limit: number): number | null {
  if (job.retryAfter === undefined) return job.nextRun;
  const at = applyModifiers(now, parseModifiers(job.retryAfter) ?? []);
  // Later than now: "+0 SECONDS" would bring one job several times in one answer.
  return at === null || limit === 1 ? at : Math.max(now + 1, at);
}

function isCrashing(shard: Shard, { tenant, name }: Job): boolean {
  return shard.crashedOf(tenant).some((pattern) => matchesName(parseNames(pattern), name));
}

/** As it was before it was taken: its times, and how often it had been taken without an end. */
function takenView(shard: Shard, id: number, before: Job, room: number): TakenView {
  const { parent: parentId } = before;
  const view = jobView(id, before, shownData(before));
  const parent = parentId === undefined ? null : shard.job(parentId);
  const ended = shard.family(id).ended;
  if (parent === null && ended.size === 0) return view;
  const own: TakenView = {
    ...view,
    ...(parentId === undefined || parent === null
      ? {}
      : {
          parentJobID: parentId,
          parentData: shownData(parent),
          ...(parent.dataRef === undefined ? {} : { parentDataRef: parent.dataRef }),
        }),
  };
  if (ended.size === 0) return own;
  const left = { bytes: room - ownBytes(own) };
  return {
    ...own,
    finishedChildJobs: childrenIn(shard, ended, "FINISHED", left),
    cancelledChildJobs: childrenIn(shard, ended, "CANCELLED", left),
  };
}

/** As many as fit, whole; of those behind them only the ids. */
function childrenIn(
  shard: Shard,
  ids: ReadonlySet<number>,
  state: string,
  left: { bytes: number },
): readonly ChildView[] {
  return [...ids].flatMap((jobID) => {
    const job = shard.job(jobID);
    if (job?.state !== state) return [];
    const data = shownData(job);
    left.bytes -= data.length + (job.dataRef?.bytes ?? 0);
    return [left.bytes < 0 ? { jobID, data: null } : { jobID, data, ...refOf(job) }];
  });
}
