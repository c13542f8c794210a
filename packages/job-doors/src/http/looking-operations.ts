/** Tenants, types, jobs, runs and shards, for those who look. */
import { inScope } from "@sluice/access";
import { cursorOf, type Operation, problem, type Problem, readCursor } from "@sluice/http-api";
import { type Command, type Content, SYSTEM_TENANT } from "@sluice/job-queue";
import { codeOfRun, JOBS, redactJson } from "@sluice/wire";
import { z } from "zod";
import { type Answer, statusOnly, UNKNOWN_OUTCOME } from "../queue-port.ts";
import { problemOf } from "./answers.ts";
import type { JobPorts } from "./ports.ts";
import { jobProblem, namesProblem } from "./scheduling.ts";
import { serve, SILENCE } from "./serve.ts";
import { printDetail, showListed, showRun, showTenants, showType } from "./views.ts";

const jobsCursor = cursorOf("queue-jobs", z.int());
const runsCursor = cursorOf("queue-runs", z.string());
const LIMIT = 50;
/** The store may be away. */
const NO_RESULT = {
  problem: problem("UNAVAILABLE", "the result cannot be read from the store just now", { retryAfterSeconds: 5 }),
};

export const lookingOperations = (ports: JobPorts): readonly Operation[] => [
  serve(JOBS.listTenants, async ({ caller }) => {
    const answers = await ports.everyShard({ verb: "CountJobs", tenant: null });
    const counts = countsIn([...answers.values()]);
    if (counts.length === 0) return SILENCE;
    const tenants = showTenants(
      counts.flatMap(({ types }) => types),
      counts.flatMap(({ usage = [] }) => usage),
    );
    return { value: { items: tenants.filter(({ tenant }) => inScope(caller.tenants, tenant)) } };
  }),
  serve(JOBS.listTypes, async ({ params: { tenant } }) => {
    const got = await contentOf(ports, tenant, { verb: "CountJobs", tenant }, "counts");
    if ("problem" in got) return got;
    const items = got.content.types.map(showType);
    return { value: { items: items.sort((a, b) => (a.name < b.name ? -1 : 1)) } };
  }),
  serve(
    JOBS.listJobs,
    async ({ params: { tenant }, query: { limit = LIMIT, cursor, state, name, repeating } }) => {
      const from = readCursor(jobsCursor, cursor);
      if ("problem" in from) return from;
      const command: Command = {
        verb: "ListJobs",
        tenant,
        limit,
        ...(from.at === undefined ? {} : { after: from.at }),
        ...(state === undefined ? {} : { states: state }),
        ...(name === undefined ? {} : { names: name }),
        ...(repeating === undefined ? {} : { repeating: repeating === "true" }),
      };
      const got = await contentOf(ports, tenant, command, "list");
      if ("problem" in got) return got;
      const { jobs, next } = got.content;
      const items = jobs.map((job) => showListed(tenant, job));
      return { value: { items, next_cursor: next === null ? null : jobsCursor.print(next) } };
    },
    { narrow: ({ query: { name = [] } }) => namesProblem(name) },
  ),
  serve(
    JOBS.describeJob,
    async ({ params: { tenant, id } }) => {
      const got = await contentOf(ports, tenant, { verb: "DescribeJob", tenant, id }, "record");
      return "problem" in got ? got : { json: printDetail(got.content.record) };
    },
    { narrow: ({ params: { id } }) => jobProblem(ports, id) },
  ),
  serve(JOBS.jobResult, async ({ params: { tenant, id } }) => {
    const got = await contentOf(ports, tenant, { verb: "DescribeJob", tenant, id }, "record");
    if ("problem" in got) return got;
    const run = got.content.record.runs[0];
    if (run === undefined) return { problem: problem("NOT_FOUND", "no run of this job has ended yet") };
    const stored = run.resultRef === null ? null : await ports.blobs?.get(run.resultRef);
    if (run.resultRef !== null && stored == null) return NO_RESULT;
    const text = stored?.toString("utf8") ?? run.result;
    const result = tenant === SYSTEM_TENANT && text !== null ? redactJson(text) : text;
    const code = codeOfRun(run.exit, run.outcome);
    return { value: { jobID: id, exit: run.exit, code, result, ended: new Date(run.ended).toISOString() } };
  }),
  serve(JOBS.listRuns, async ({ params: { tenant }, query: { limit = LIMIT, cursor, name } }) => {
    const from = readCursor(runsCursor, cursor);
    if ("problem" in from) return from;
    const command: Command = {
      verb: "ListRuns",
      tenant,
      limit,
      ...(from.at === undefined ? {} : { after: from.at }),
      ...(name === undefined ? {} : { names: name }),
    };
    const got = await contentOf(ports, tenant, command, "runs");
    if ("problem" in got) return got;
    const { runs, next } = got.content;
    return { value: { items: runs.map(showRun), next_cursor: next === null ? null : runsCursor.print(next) } };
  }),
  serve(JOBS.listShards, () => ({ value: { items: [...ports.shards()] } })),
];

type Kind = Content["kind"];
export type Got<K extends Kind> = { readonly content: Extract<Content, { kind: K }> } | { readonly problem: Problem };

/** What was asked for, or why there is none. */
export async function contentOf<K extends Kind>(
  { queue }: Pick<JobPorts, "queue">,
  tenant: string,
  command: Command,
  kind: K,
): Promise<Got<K>> {
  const reply = (await queue.ask(tenant, command)) ?? statusOnly(UNKNOWN_OUTCOME);
  const found = problemOf(reply);
  if (found !== null) return { problem: found };
  if (!isOfKind(reply.content, kind)) throw new Error(`${command.verb} was answered with ${reply.content.kind}`);
  return { content: reply.content };
}

const isOfKind = <K extends Kind>(content: Content, kind: K): content is Extract<Content, { kind: K }> =>
  content.kind === kind;

/** Of the shards that answer. */
const countsIn = (answers: readonly Answer[]): readonly Extract<Content, { kind: "counts" }>[] =>
  answers.flatMap((answer) => (answer?.content.kind === "counts" ? [answer.content] : []));
