/**
 * All container jobs of a tenant, by id. A job that ends between two looks must neither be missed nor come twice: those
 * that live are read first, those that have ended afterwards, and what each one is now is asked of the job itself.
 */
import type { Command, JobRecord, State } from "@sluice/job-queue";
import type { Problem } from "@sluice/http-api";
import { contentOf, type Got } from "../http/looking-operations.ts";
import type { JobPorts } from "../http/ports.ts";
import { CONTAINER_JOB } from "./schema.ts";

export interface Gathering {
  readonly tenant: string;
  /** Those that live in one of these; and those that have ended, if asked for. */
  readonly states: readonly State[];
  readonly ended: boolean;
  /** Ids above this one. */
  readonly after: number;
  readonly limit: number;
}

type Gathered<T> = { readonly found: T } | { readonly problem: Problem };

const AT_ONCE = 25;
const PAGE = 200;

export async function gatherJobs(ports: JobPorts, asked: Gathering): Promise<Gathered<readonly JobRecord[]>> {
  const live = await liveIds(ports, asked);
  if ("problem" in live) return live;
  const ended = asked.ended ? await endedIds(ports, asked) : { found: [] };
  if ("problem" in ended) return ended;
  const ids = [...new Set([...live.found, ...ended.found])].filter((id) => id > asked.after).sort((a, b) => a - b);
  return describeAll(ports, asked.tenant, ids.slice(0, asked.limit));
}

/** Page by page: one that has large data is short. */
async function liveIds(ports: JobPorts, { tenant, states, limit, after }: Gathering): Promise<Gathered<number[]>> {
  const found: number[] = [];
  for (let from: number | null = after; from !== null && found.length < limit;) {
    const command: Command = { verb: "ListJobs", tenant, states, names: [CONTAINER_JOB], limit, after: from };
    const got: Got<"list"> = await contentOf(ports, tenant, command, "list");
    if ("problem" in got) return got;
    for (const { jobID } of got.content.jobs) found.push(jobID);
    from = got.content.next;
  }
  return { found };
}

async function endedIds(ports: JobPorts, { tenant, after }: Gathering): Promise<Gathered<number[]>> {
  const found = new Set<number>();
  let from: string | null = null;
  do {
    const command: Command = {
      verb: "ListRuns",
      tenant,
      names: [CONTAINER_JOB],
      limit: PAGE,
      ...(from === null ? {} : { after: from }),
    };
    const got: Got<"runs"> = await contentOf(ports, tenant, command, "runs");
    if ("problem" in got) return got;
    for (const { jobID } of got.content.runs) if (jobID > after) found.add(jobID);
    from = got.content.next;
  } while (from !== null);
  return { found: [...found] };
}

/** One that was deleted meanwhile is left out. */
async function describeAll(
  ports: JobPorts,
  tenant: string,
  ids: readonly number[],
): Promise<Gathered<readonly JobRecord[]>> {
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

export async function describeOne(ports: JobPorts, tenant: string, id: number): Promise<Gathered<JobRecord>> {
  const got = await contentOf(ports, tenant, { verb: "DescribeJob", tenant, id }, "record");
  return "problem" in got ? got : { found: got.content.record };
}
