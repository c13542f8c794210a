/** The etcd document's endpoints: container jobs and workers, in the nodes that etcd's clients read. */
import { type Before, callerOf, operation, type Operation, type Problem, readInput } from "@sluice/http-api";
import { CONTAINER_TYPE, containerPhase, isStatus, readCommand, type State, STATES } from "@sluice/job-queue";
import { JobWorker } from "@sluice/wire";
import { z } from "zod";
import { problemOf } from "../http/answers.ts";
import type { JobPorts } from "../http/ports.ts";
import { SILENCE } from "../http/serve.ts";
import { type Intent, tenantProblem } from "../http/tenancy.ts";
import { heardQueue } from "../heard.ts";
import { type QueuePort, statusOnly, UNKNOWN_OUTCOME } from "../queue-port.ts";
import { describeOne, gatherJobs } from "./gather.ts";
import { jobId, problems, tenant } from "./parameters.ts";
import { readValue } from "./read-value.ts";
import { EtcdJob, EtcdList, type EtcdNode, EtcdOne, type EtcdState, SubmittedJob } from "./schema.ts";
import { swapJob } from "./swap-operation.ts";
import { containerJob, nodeOf, showEtcdJob } from "./view.ts";

const group = "etcd";
const LIST_LIMIT = { usual: 1_000, most: 10_000 } as const;
const plain = z.enum(["true", "false"]).optional().describe("true: the jobs themselves, without etcd's nodes");

export const etcdOperations = (ports: JobPorts): readonly Operation[] => [
  submit(ports),
  list(ports, LISTS.jobs),
  list(ports, LISTS.new),
  list(ports, LISTS.running),
  list(ports, LISTS.finished),
  getOne(ports),
  swapJob(ports, () => only("act")),
  workers(ports),
];

interface ListRow {
  readonly folder: string;
  readonly summary: string;
  /** Of jobs that live, those that may be meant. */
  readonly states: readonly State[];
  /** Null: all. */
  readonly phase: EtcdState["State"] | null;
}

const LISTS = {
  jobs: { folder: "jobs", summary: "All container jobs, in the order of submission", states: STATES, phase: null },
  new: { folder: "new", summary: "Those that wait", states: ["QUEUED", "PAUSED"], phase: "QUEUED" },
  running: { folder: "running", summary: "Those at work", states: ["RUNNING", "RUNQUEUED"], phase: "STARTED" },
  finished: {
    folder: "finished",
    summary: "Those that have ended",
    states: ["FINISHED", "FAILED", "CANCELLED"],
    phase: "FINISHED",
  },
} as const satisfies Readonly<Record<string, ListRow>>;

/** Before anything is said of the rest of the request. What is no tenant's name is refused with the query. */
const only = <P extends z.ZodType>(intent: Intent): Before<P> => ({
  refusePath: (_params, request, response) => {
    const of = tenant.safeParse(request.query["tenant"]);
    return of.success ? tenantProblem(callerOf(response), of.data, intent) : null;
  },
});

function submit(ports: JobPorts): Operation {
  const spec = {
    id: "etcdSubmitJob",
    method: "post",
    path: "/v2/keys/jobs",
    group,
    summary: "Submit a container job: the document's schema as JSON, or as etcd's form field `value`",
    permission: "use-jobs",
    query: z.strictObject({ tenant }),
    body: {
      unread: {
        "application/json": SubmittedJob,
        "application/x-www-form-urlencoded": z.object({ value: z.string().describe("the same as JSON text") }),
      },
    },
    responses: { 201: { description: "the job", content: { "application/json": EtcdOne } } },
    problems,
  } as const;
  return operation(
    spec,
    async ({ query }, request, response) => {
      const body = await readValue(request);
      if ("problem" in body) return body;
      const read = readInput(SubmittedJob, body.value);
      if (!read.ok) return { problem: read.problem };
      const speaker = { door: "etcd", caller: callerOf(response).name } as const;
      const made = await createJob(heardQueue(ports.queue, ports.hear, speaker), query.tenant, read.value);
      if ("problem" in made) return made;
      const job = await describeOne(ports, query.tenant, made.id);
      return "problem" in job ? job : { status: 201, body: { action: "create", node: nodeOf(job.found, "jobs") } };
    },
    only("act"),
  );
}

async function createJob(
  queue: QueuePort,
  of: string,
  { Container, Fileset }: SubmittedJob,
): Promise<{ readonly id: number } | { readonly problem: Problem }> {
  const fields = { name: CONTAINER_TYPE, data: JSON.stringify({ Container, Fileset }) };
  const command = readCommand("CreateJob", fields, { tenant: of, caller: { kind: "timed", worker: "" } });
  const reply = isStatus(command)
    ? statusOnly(command)
    : ((await queue.ask(of, command)) ?? statusOnly(UNKNOWN_OUTCOME));
  const found = problemOf(reply);
  if (found !== null) return { problem: found };
  const id = reply.content.kind === "ids" ? reply.content.ids[0] : undefined;
  if (id === undefined) throw new Error("a job was created without an id");
  return { id };
}

function list(ports: JobPorts, { folder, summary, states, phase }: ListRow): Operation {
  const spec = {
    id: `etcdList${folder.charAt(0).toUpperCase()}${folder.slice(1)}`,
    method: "get",
    path: `/v2/keys/${folder}`,
    group,
    summary,
    permission: "see-jobs",
    query: z.strictObject({
      tenant,
      plain,
      after: z.coerce
        .number("expected a job's number")
        .int()
        .min(0)
        .optional()
        .describe(
          "a page: ids above this one. Without after and limit: every living job and the last 1,000 that have ended",
        ),
      limit: z.coerce.number("expected a whole number").int().min(1).max(LIST_LIMIT.most).optional(),
      recursive: z.string().optional(),
      sorted: z.string().optional(),
    }),
    responses: { 200: { description: "the jobs", content: { "application/json": EtcdList } } },
    problems,
  } as const;
  return operation(
    spec,
    async ({ query }) => {
      const { after, limit } = query;
      const ended = phase === null || phase === "FINISHED";
      const isPage = after !== undefined || limit !== undefined;
      const page = isPage ? { after: after ?? 0, limit: limit ?? LIST_LIMIT.usual } : null;
      const got = await gatherJobs(ports, { tenant: query.tenant, states, ended, page });
      if ("problem" in got) return got;
      const { records, ...rest } = got.found;
      const jobs = records.filter(({ state }) => phase === null || containerPhase(state) === phase);
      if (query.plain === "true") {
        const plainly = jobs.map((job) => ({ Id: String(job.jobID), ...showEtcdJob(job) }));
        return { status: 200, body: { jobs: plainly, ...rest } };
      }
      const nodes = jobs.map((job) => nodeOf(job, folder));
      return { status: 200, body: { ...listing(folder, nodes), ...rest } };
    },
    only("look"),
  );
}

const listing = (folder: string, nodes: readonly EtcdNode[]): z.input<typeof EtcdList> => ({
  action: "get",
  node: { key: `/${folder}`, dir: true, nodes: [...nodes] },
});

function getOne(ports: JobPorts): Operation {
  const spec = {
    id: "etcdGetJob",
    method: "get",
    path: "/v2/keys/jobs/{id}",
    group,
    summary: "A container job, also one that has ended",
    permission: "see-jobs",
    params: z.strictObject({ id: jobId }),
    query: z.strictObject({ tenant, plain }),
    responses: { 200: { description: "the job", content: { "application/json": z.union([EtcdOne, EtcdJob]) } } },
    problems,
  } as const;
  return operation(
    spec,
    async ({ params: { id }, query }) => {
      const found = await describeOne(ports, query.tenant, id);
      const got = "problem" in found ? found : containerJob(found.found);
      if ("problem" in got) return got;
      if (query.plain === "true") return { status: 200, body: { Id: String(id), ...showEtcdJob(got.found) } };
      return { status: 200, body: { action: "get", node: nodeOf(got.found, "jobs") } };
    },
    only("look"),
  );
}

function workers(ports: JobPorts): Operation {
  const spec = {
    id: "etcdListWorkers",
    method: "get",
    path: "/v2/keys/workers",
    group,
    summary: "The workers, living and dead",
    permission: "see-fleet",
    query: z.strictObject({ plain, recursive: z.string().optional(), sorted: z.string().optional() }),
    responses: {
      200: {
        description: "the workers",
        content: { "application/json": z.union([EtcdList, z.object({ workers: z.array(JobWorker) })]) },
      },
    },
    problems,
  } as const;
  return operation(spec, async ({ query }) => {
    const found = await ports.workers();
    if (found === null) return SILENCE;
    if (query.plain === "true") return { status: 200, body: { workers: found } };
    const nodes = found.map((worker): EtcdNode => ({
      key: `/workers/${worker.Name}`,
      value: JSON.stringify(worker),
      createdIndex: worker.sysid,
      modifiedIndex: Date.parse(worker.Heartbeat),
    }));
    return { status: 200, body: listing("workers", nodes) };
  });
}
