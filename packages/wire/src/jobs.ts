/** The API of the general job queue. */
import { z } from "zod";
import { page, pageOf, reason } from "./common.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import { COMMAND_ANSWERS, COMMAND_BODIES, type CommandVerb } from "./job-commands.ts";
import { Handler, HandlerSpec, HandlerSummary } from "./job-handlers.ts";
import { VERB_RIGHTS } from "./job-verbs.ts";
import {
  FairlyTakenJob,
  JobResult,
  JobRun,
  JobWorker,
  QueuedJob,
  QueuedJobDetail,
  queuedJobState,
  QueueShard,
  QueueTenant,
  QueueType,
} from "./job-views.ts";

const tenantName = z.string().regex(/^[a-z0-9-]{1,64}$/, "a-z, 0-9 and -, up to 64");
const ofTenant = z.strictObject({ tenant: tenantName });
const ofJob = ofTenant.extend({ id: z.coerce.number("expected a job's number").int().min(1) });
const ofWorker = z.strictObject({ worker: z.string().min(1).max(128) });
const ofHandler = ofTenant.extend({ type: z.string().min(1).max(255) });
/** Lists come as one parameter with commas. */
const list = z
  .string()
  .max(4_096)
  .transform((raw) => raw.split(","));
const namePattern = z.string().min(1).max(255);
const namePatterns = list.pipe(z.array(namePattern).max(100));

/** With it, the change stands in the audit, under the caller's name. */
const why = z.strictObject({ reason: reason.optional() });

const looking = { method: "get", permission: "see-jobs", status: 200 } as const;

type CommandEndpoint<V extends CommandVerb> = Endpoint<
  typeof ofTenant,
  typeof why,
  (typeof COMMAND_BODIES)[V],
  (typeof COMMAND_ANSWERS)[V]
>;

const command = <V extends CommandVerb>(id: string, verb: V): CommandEndpoint<V> => ({
  id,
  method: "post",
  path: `/v1/tenants/{tenant}/commands/${verb}`,
  group: "Commands",
  summary: verb,
  ...VERB_RIGHTS[verb],
  params: ofTenant,
  query: why,
  body: COMMAND_BODIES[verb],
  answer: COMMAND_ANSWERS[verb],
  status: 200,
});

const COMMAND_ENDPOINTS = {
  createJob: command("createJob", "CreateJob"),
  createJobs: command("createJobs", "CreateJobs"),
  getJob: command("getJob", "GetJob"),
  getJobs: command("getJobs", "GetJobs"),
  queryJob: command("queryJob", "QueryJob"),
  updateJob: command("updateJob", "UpdateJob"),
  finishJob: command("finishJob", "FinishJob"),
  retryJob: command("retryJob", "RetryJob"),
  failJob: command("failJob", "FailJob"),
  cancelJob: command("cancelJob", "CancelJob"),
  deleteJob: command("deleteJob", "DeleteJob"),
  requeueJobs: command("requeueJobs", "RequeueJobs"),
  crashBedrockJob: command("crashBedrockJob", "CrashBedrockJob"),
  clearCrashedBedrockJobs: command("clearCrashedBedrockJobs", "ClearCrashedBedrockJobs"),
  status: command("status", "Status"),
} as const;

const LOOKING_ENDPOINTS = {
  listTenants: endpoint({
    ...looking,
    id: "listTenants",
    path: "/v1/tenants",
    group: "Queue",
    summary: "The tenants that have jobs, and how many",
    answer: z.object({ items: z.array(QueueTenant) }),
  }),
  listTypes: endpoint({
    ...looking,
    id: "listTypes",
    path: "/v1/tenants/{tenant}/types",
    group: "Queue",
    summary: "The types of a tenant's jobs, and how many can run now",
    params: ofTenant,
    answer: z.object({ items: z.array(QueueType) }),
  }),
  listJobs: endpoint({
    ...looking,
    id: "listJobs",
    path: "/v1/tenants/{tenant}/jobs",
    narrowed: "schedule-deposits",
    group: "Queue",
    summary: "A tenant's jobs, in the order in which they were created",
    params: ofTenant,
    query: z.strictObject({
      ...page,
      state: list.pipe(z.array(queuedJobState).max(7)).optional().describe("one or more, with commas"),
      name: namePatterns.optional().describe("patterns (* ? [...]), with commas"),
      repeating: z.enum(["true", "false"]).optional().describe("only those with a schedule, or only those without"),
    }),
    answer: pageOf(QueuedJob),
  }),
  describeJob: endpoint({
    ...looking,
    id: "describeJob",
    path: "/v1/tenants/{tenant}/jobs/{id}",
    narrowed: "schedule-deposits",
    group: "Queue",
    summary: "Everything about a job, also about one that has ended",
    params: ofJob,
    answer: QueuedJobDetail,
  }),
  sealedData: endpoint({
    id: "sealedData",
    method: "get",
    path: "/v1/tenants/{tenant}/jobs/{id}/sealed",
    group: "Queue",
    summary: "The data of a deposit for later, whole: for the intake that made it",
    permission: "schedule-deposits",
    params: ofJob,
    answer: z.object({ name: z.string(), data: z.record(z.string(), z.unknown()) }),
    status: 200,
  }),
  jobResult: endpoint({
    ...looking,
    id: "jobResult",
    path: "/v1/tenants/{tenant}/jobs/{id}/result",
    group: "Queue",
    summary: "The result of a job's last run, whole",
    params: ofJob,
    answer: JobResult,
  }),
  listRuns: endpoint({
    ...looking,
    id: "listRuns",
    path: "/v1/tenants/{tenant}/runs",
    group: "Queue",
    summary: "Runs that have ended, newest first",
    params: ofTenant,
    query: z.strictObject({ ...page, name: namePatterns.optional() }),
    answer: pageOf(JobRun),
  }),
  listShards: endpoint({
    ...looking,
    id: "listShards",
    path: "/v1/shards",
    group: "Queue",
    summary: "Who owns which shard",
    permission: "see-fleet",
    answer: z.object({ items: z.array(QueueShard) }),
  }),
} as const;

const WORKER_ENDPOINTS = {
  takeJobs: endpoint({
    id: "takeJobs",
    method: "post",
    path: "/v1/take",
    group: "Workers",
    summary: "Take jobs of several tenants and types, each in its fair turn",
    permission: "use-jobs",
    body: z.strictObject({
      worker: z.string().min(1).max(128),
      tenants: z.array(tenantName).max(1_000).optional().describe("without: all that the caller may use"),
      types: z.array(namePattern).max(1_000).optional().describe("patterns; without: every type"),
      handled: z
        .boolean()
        .optional()
        .describe(
          "only types that have a handler, had one, or were added for one; others belong to workers of their own",
        ),
      besides: z.array(namePattern).max(100).optional().describe("with `handled`: these in any case (patterns)"),
      limit: z.int().min(1).max(100).default(1),
      waitMs: z.int().min(0).max(60_000).default(0).describe("how long to wait for the first one"),
    }),
    answer: z.object({ jobs: z.array(FairlyTakenJob) }),
    status: 200,
  }),
  renewLeases: endpoint({
    id: "renewLeases",
    method: "post",
    path: "/v1/workers/{worker}/renew",
    group: "Workers",
    summary: "Still at it; the answer names the jobs that are no longer the worker's",
    permission: "use-jobs",
    params: ofWorker,
    body: z.strictObject({
      leases: z.array(z.strictObject({ tenant: tenantName, jobID: z.int(), lease: z.string().max(64) })).max(10_000),
    }),
    answer: z.object({ lost: z.array(z.int()) }),
    status: 200,
  }),
  releaseWorker: endpoint({
    id: "releaseWorker",
    method: "post",
    path: "/v1/workers/{worker}/release",
    group: "Workers",
    summary: "Give back at once every job that a worker has",
    permission: "act-on-workers",
    params: ofWorker,
    query: why,
    answer: z.object({ jobIDs: z.array(z.int()) }),
    status: 200,
  }),
  listWorkers: endpoint({
    ...looking,
    id: "listWorkers",
    path: "/v1/workers",
    group: "Workers",
    summary: "The workers that run jobs, living and dead",
    permission: "see-fleet",
    answer: z.object({ items: z.array(JobWorker) }),
  }),
} as const;

const version = z.coerce.number("expected a whole number").int().min(1).optional();

const HANDLER_ENDPOINTS = {
  listHandlers: endpoint({
    ...looking,
    id: "listHandlers",
    path: "/v1/tenants/{tenant}/handlers",
    group: "Handlers",
    summary: "A tenant's handlers, all versions",
    params: ofTenant,
    answer: z.object({ items: z.array(HandlerSummary) }),
  }),
  getHandler: endpoint({
    ...looking,
    id: "getHandler",
    path: "/v1/tenants/{tenant}/handlers/{type}",
    group: "Handlers",
    summary: "The handler of a type; the newest version unless one is named",
    params: ofHandler,
    query: z.strictObject({ version }),
    answer: Handler,
  }),
  putHandler: endpoint({
    id: "putHandler",
    method: "put",
    path: "/v1/tenants/{tenant}/handlers/{type}",
    group: "Handlers",
    summary: "A new version of a type's handler",
    permission: "change-handlers",
    params: ofHandler,
    query: why,
    body: HandlerSpec,
    answer: Handler,
    status: 201,
  }),
  deleteHandler: endpoint({
    id: "deleteHandler",
    method: "delete",
    path: "/v1/tenants/{tenant}/handlers/{type}",
    group: "Handlers",
    summary: "Delete a type's handler, all versions unless one is named; its jobs are retried until their time is over",
    permission: "change-handlers",
    params: ofHandler,
    query: why.extend({ version }),
    answer: z.object({ versions: z.array(z.int()) }),
    status: 200,
  }),
} as const;

export const JOBS = {
  ...COMMAND_ENDPOINTS,
  ...LOOKING_ENDPOINTS,
  ...WORKER_ENDPOINTS,
  ...HANDLER_ENDPOINTS,
} as const;
