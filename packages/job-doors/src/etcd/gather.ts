/**
 * All container jobs of a tenant, by id. A job that ends between two looks must neither be missed nor come twice: those
 * that live are read first, those that have ended afterwards, and what each one is now is asked of the job itself.
 */
import { type Command, CONTAINER_TYPE, type JobRecord, type State } from "@sluice/job-queue";
import type { Problem } from "@sluice/http-api";
import { contentOf, type Got } from "../http/looking-operations.ts";
import type { JobPorts } from "../http/ports.ts";

export interface Gathering {
  readonly tenant: string;
  /** Those that live in one of these; and those that have ended, if asked for. */
  readonly states: readonly State[];
  readonly ended: boolean;
  /** A page: ids above `after`, so many. Null: every living job, and the last ones that have ended. */
  readonly page: { readonly after: number; readonly limit: number } | null;
}

export interface Gathered {
  readonly records: readonly JobRecord[];
  /** A page is full, and there are more. */
  readonly next?: number;
  /** Without a page: how many that have ended are not among them, as far as was looked. */
  readonly leftOut?: number;
}

type Found<T> = { readonly found: T } | { readonly problem: Problem };

const AT_ONCE = 25;
const PAGE = 200;
/** Jobs that have ended, in a list that is no page. */
const ENDED_SHOWN = 1_000;

export async function gatherJobs(ports: JobPorts, asked: Gathering): Promise<Found<Gathered>> {
  const live = await liveIds(ports, asked);
  if ("problem" in live) return live;
  const ended = asked.ended ? await endedIds(ports, asked) : { found: [] };
  if ("problem" in ended) return ended;
  const { ids, ...rest } =
    asked.page === null ? latest(live.found, ended.found) : pageOf([...live.found, ...ended.found], asked.page);
  const records = await describeAll(ports, asked.tenant, ids);
  return "problem" in records ? records : { found: { records: records.found, ...rest } };
}

const ascending = (ids: readonly number[]): readonly number[] => [...new Set(ids)].sort((a, b) => a - b);

/** A worker of the document looks for the first QUEUED one: no living job is left out, however many have ended. */
function latest(live: readonly number[], ended: readonly number[]) {
  const known = new Set(live);
  const others = ascending(ended.filter((id) => !known.has(id)));
  const shown = others.slice(-ENDED_SHOWN);
  const leftOut = others.length - shown.length;
  return { ids: ascending([...live, ...shown]), ...(leftOut === 0 ? {} : { leftOut }) };
}

function pageOf(all: readonly number[], { after, limit }: NonNullable<Gathering["page"]>) {
  const ids = ascending(all.filter((id) => id > after));
  const shown = ids.slice(0, limit);
  const last = shown.at(-1);
  return { ids: shown, ...(ids.length > shown.length && last !== undefined ? { next: last } : {}) };
}

/** Page by page: one answer has a thousand at most. Of a page only as many as it can show. */
async function liveIds(ports: JobPorts, { tenant, states, page }: Gathering): Promise<Found<number[]>> {
  const ids: number[] = [];
  for (let after: number | null = page?.after ?? 0; after !== null && ids.length <= (page?.limit ?? Infinity);) {
    const command: Command = { verb: "ListJobs", tenant, states, names: [CONTAINER_TYPE], limit: LIVE_PAGE, after };
    const got: Got<"list"> = await contentOf(ports, tenant, command, "list");
    if ("problem" in got) return got;
    for (const { jobID } of got.content.jobs) ids.push(jobID);
    after = got.content.next;
  }
  return { found: ids };
}

const LIVE_PAGE = 1_000;

/** Newest first; for a list that is no page so many that it shows, and one more. */
async function endedIds(ports: JobPorts, { tenant, page }: Gathering): Promise<Found<number[]>> {
  const found = new Set<number>();
  let from: string | null = null;
  do {
    const command: Command = {
      verb: "ListRuns",
      tenant,
      names: [CONTAINER_TYPE],
      limit: PAGE,
      ...(from === null ? {} : { after: from }),
    };
    const got: Got<"runs"> = await contentOf(ports, tenant, command, "runs");
    if ("problem" in got) return got;
    for (const { jobID } of got.content.runs) if (jobID > (page?.after ?? 0)) found.add(jobID);
    from = got.content.next;
  } while (from !== null && (page !== null || found.size <= ENDED_SHOWN + PAGE));
  return { found: [...found] };
}

/** One that was deleted meanwhile is left out. */
async function describeAll(
  ports: JobPorts,
  tenant: string,
  ids: readonly number[],
): Promise<Found<readonly JobRecord[]>> {
  const found: JobRecord[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const asked = ids.slice(at, at + AT_ONCE).map((id) => describeOne(ports, tenant, id));
    for (const got of await Promise.all(asked)) {
      if ("found" in got) found.push(got.found);
      else if (got.problem.code !== "NOT_FOUND") return got;
    }
  }
  return { found };
}

export async function describeOne(ports: JobPorts, tenant: string, id: number): Promise<Found<JobRecord>> {
  const got = await contentOf(ports, tenant, { verb: "DescribeJob", tenant, id }, "record");
  return "problem" in got ? got : { found: got.content.record };
}
