/**
 * Jobs by filter, page by page. Names tell state and priority; statuses and configurations are read only when the
 * filter asks for what stands in them, a few hundred nodes at a time, so that others are not held up.
 */
import type { Read, Session } from "@sluice/zookeeper";
import { codeOfMessage, type ErrorCode } from "./errors.ts";
import { type BatchId, type JobId, parseJobId } from "./ids.ts";
import { nodeOf, readable } from "./nodes.ts";
import { sortEntries } from "./job-reads.ts";
import { clampPriority, paths } from "./paths.ts";
import { type Identifiers, type JobConfiguration, records } from "./records.ts";
import { BUCKETS, JOB_STATES, type JobState } from "./states.ts";
import { parseTimestamp } from "./timestamp.ts";
import { bucketOf } from "./transitions.ts";

/** All that is given must hold. Without `batch` and `ids` the queues are searched, where ended jobs are swept away. */
export interface JobFilter {
  readonly states?: readonly JobState[];
  readonly batch?: BatchId;
  readonly ids?: readonly JobId[];
  /** The profile's name. */
  readonly collection?: string;
  /** Any of these: what somebody who is bound to collections may see. */
  readonly collections?: readonly string[];
  readonly submitter?: string;
  /** Whatever else must hold of what it is called. */
  readonly wants?: (words: JobWords) => boolean;
  readonly priority?: { readonly min?: number; readonly max?: number };
  readonly errorCode?: ErrorCode;
  /** In its state for at least this long. */
  readonly olderThanMs?: number;
}

export interface JobWords {
  readonly configuration: JobConfiguration;
  readonly identifiers: Identifiers | null;
}

export interface SelectedJob {
  readonly id: JobId;
  readonly state: JobState;
  /** Known only if the filter or the caller wanted the configuration read. */
  readonly collection?: string;
}

export interface SelectOptions {
  readonly nowMs: number;
  readonly withCollection?: boolean;
}

/** A page of jobs, or the news that ZooKeeper does not answer; then nothing follows. */
export type SelectedPage =
  { readonly kind: "page"; readonly jobs: readonly SelectedJob[] } | { readonly kind: "silence" };

/** A few nodes each: a request of some 20 KB, an answer of some 200 KB. */
const PAGE_JOBS = 200;

/** What is known of a job from names alone; null = it must be read. */
interface Known {
  readonly id: JobId;
  readonly state: JobState | null;
  readonly priority: number | null;
}

export async function* selectJobs(
  session: Session,
  filter: JobFilter,
  options: SelectOptions,
): AsyncGenerator<SelectedPage, void, undefined> {
  for await (const names of namedJobs(session, filter)) {
    if (names === null) {
      yield { kind: "silence" };
      return;
    }
    for (let i = 0; i < names.length; i += PAGE_JOBS) {
      const jobs = await readPage(session, names.slice(i, i + PAGE_JOBS), filter, options);
      if (jobs === null) {
        yield { kind: "silence" };
        return;
      }
      if (jobs.length > 0) yield { kind: "page", jobs };
    }
  }
}

async function* namedJobs(session: Session, filter: JobFilter): AsyncGenerator<readonly Known[] | null> {
  const states = filter.states ?? JOB_STATES;
  if (filter.ids !== undefined) {
    yield [...new Set(filter.ids)].map((id) => ({ id, state: null, priority: null }));
    return;
  }
  if (filter.batch !== undefined) {
    for (const bucket of BUCKETS.filter((each) => states.some((state) => bucketOf(state) === each))) {
      const inside = JOB_STATES.filter((state) => bucketOf(state) === bucket);
      const only = inside.length === 1 ? (inside[0] ?? null) : null;
      const listed = await session.children(paths.bucket(filter.batch, bucket));
      if (!listed.ok && listed.code !== "NO_NODE") {
        yield null;
        return;
      }
      const names = listed.ok ? [...listed.value.names].sort() : [];
      yield names.flatMap((name) => {
        const id = parseJobId(name);
        return id === null ? [] : [{ id, state: only, priority: null }];
      });
    }
    return;
  }
  for (const state of states) {
    const listed = await session.children(paths.queue(state));
    if (!listed.ok && listed.code === "NO_NODE") continue;
    if (!listed.ok) {
      yield null;
      return;
    }
    yield sortEntries(listed.value.names)
      .filter(({ priority }) => inRange(priority, filter.priority))
      .map(({ id, priority }) => ({ id, state, priority }));
  }
}

function inRange(priority: number, range: JobFilter["priority"]): boolean {
  return priority >= (range?.min ?? 0) && priority <= (range?.max ?? Number.POSITIVE_INFINITY);
}

async function readPage(
  session: Session,
  names: readonly Known[],
  filter: JobFilter,
  options: SelectOptions,
): Promise<readonly SelectedJob[] | null> {
  const wants = {
    status: filter.errorCode !== undefined || filter.olderThanMs !== undefined,
    priority: filter.priority !== undefined,
    configuration:
      filter.collection !== undefined ||
      filter.collections !== undefined ||
      filter.submitter !== undefined ||
      filter.wants !== undefined ||
      options.withCollection === true,
    identifiers: filter.wants !== undefined,
    bid: filter.batch !== undefined && filter.ids !== undefined,
  };
  const reads = names.map(({ id, state, priority }) => ({
    status: wants.status || state === null ? paths.jobStatus(id) : null,
    priority: wants.priority && priority === null ? paths.jobPriority(id) : null,
    configuration: wants.configuration ? paths.jobConfiguration(id) : null,
    identifiers: wants.identifiers ? paths.jobIdentifiers(id) : null,
    bid: wants.bid ? paths.jobBid(id) : null,
  }));
  const wanted = reads.flatMap((read) => Object.values(read).filter((path) => path !== null));
  const answers = wanted.length === 0 ? null : await session.readMany(wanted.map((get): Read => ({ get })));
  if (answers?.ok === false) return null;
  const nodes = new Map(wanted.map((path, i) => [path, nodeOf(answers?.value[i])]));
  return names.flatMap((known, i) => {
    const read = reads[i];
    const node = (path: string | null | undefined) => (path == null ? null : (nodes.get(path) ?? null));
    const status = readable(records.jobStatus, node(read?.status));
    const configuration = readable(records.jobConfiguration, node(read?.configuration));
    const state = status?.status ?? (read?.status == null ? known.state : null);
    // Gone or broken since it was listed; or moved out of the state that was asked for.
    if (state === null || (known.state !== null && state !== known.state)) return [];
    if (filter.states !== undefined && !filter.states.includes(state)) return [];
    if (filter.errorCode !== undefined && codeOfMessage(status?.message ?? "") !== filter.errorCode) return [];
    if (filter.olderThanMs !== undefined) {
      const since = parseTimestamp(status?.last_modified ?? "");
      if (since === null || options.nowMs - since < filter.olderThanMs) return [];
    }
    if (read?.priority != null) {
      const priority = readable(records.priority, node(read.priority));
      if (priority === null || !inRange(clampPriority(priority), filter.priority)) return [];
    }
    if (wants.configuration && configuration === null) return [];
    if (filter.collection !== undefined && configuration?.profile_name !== filter.collection) return [];
    if (filter.collections?.includes(configuration?.profile_name ?? "") === false) return [];
    if (filter.submitter !== undefined && configuration?.submitter !== filter.submitter) return [];
    const identifiers = readable(records.identifiers, node(read?.identifiers));
    if (configuration !== null && filter.wants?.({ configuration, identifiers }) === false) return [];
    if (wants.bid && readable(records.bid, node(read?.bid)) !== filter.batch) return [];
    return [{ id: known.id, state, ...(configuration === null ? {} : { collection: configuration.profile_name }) }];
  });
}

/** What a bulk order would meet: counted before anything is done. */
export interface SelectionCount {
  readonly total: number;
  readonly byState: Readonly<Partial<Record<JobState, number>>>;
  readonly byCollection: Readonly<Record<string, number>>;
  readonly examples: readonly SelectedJob[];
}

const EXAMPLES_MAX = 20;

/** null = no answer from ZooKeeper. */
export async function countJobs(session: Session, filter: JobFilter, nowMs: number): Promise<SelectionCount | null> {
  const byState: Partial<Record<JobState, number>> = {};
  const byCollection = new Map<string, number>();
  const examples: SelectedJob[] = [];
  let total = 0;
  for await (const page of selectJobs(session, filter, { nowMs, withCollection: true })) {
    if (page.kind === "silence") return null;
    total += page.jobs.length;
    for (const job of page.jobs) {
      byState[job.state] = (byState[job.state] ?? 0) + 1;
      const collection = job.collection ?? "";
      byCollection.set(collection, (byCollection.get(collection) ?? 0) + 1);
      if (examples.length < EXAMPLES_MAX) examples.push(job);
    }
  }
  return { total, byState, byCollection: Object.fromEntries(byCollection), examples };
}
