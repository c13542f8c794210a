/** The general queue as people and programs look at it. Times are RFC 3339; the commands alone speak the document's form. */
import { z } from "zod";
import { time } from "./common.ts";
import { TakenJob } from "./job-commands.ts";
import { RunCode } from "./run-codes.ts";

export const QUEUED_JOB_STATES = [
  "QUEUED",
  "RUNNING",
  "RUNQUEUED",
  "PAUSED",
  "FINISHED",
  "FAILED",
  "CANCELLED",
] as const;
export const queuedJobState = z.enum(QUEUED_JOB_STATES);

const counts = z.partialRecord(queuedJobState, z.int()).describe("jobs by state; a state without jobs is left out");
const waiting = {
  counts,
  ready: z.int().describe("jobs that could be taken now"),
  oldest_due: time.nullable().describe("since when the oldest of them waits"),
};

export const QueueTenant = z
  .object({
    tenant: z.string(),
    ...waiting,
    running: z.int().nullable().describe("runs that are under way; null: the owner of its shard does not say"),
    worker_seconds: z
      .number()
      .nullable()
      .describe(
        "for how long its jobs have occupied workers since this owner has its shard: whose jobs cost more, waits longer",
      ),
  })
  .meta({ id: "QueueTenant" });
export type QueueTenant = z.infer<typeof QueueTenant>;
export const QueueType = z.object({ name: z.string(), ...waiting }).meta({ id: "QueueType" });
export type QueueType = z.infer<typeof QueueType>;

/** A job in a list. */
export const QueuedJob = z
  .object({
    jobID: z.int(),
    tenant: z.string(),
    name: z.string(),
    state: queuedJobState,
    priority: z.int(),
    created: time,
    nextRun: time.nullable().describe("null: never again"),
    lastRun: time.nullable(),
    repeat: z.string().describe("empty: it does not repeat"),
    retryAfter: z.string(),
    owner: z.string().describe("the worker that has it, or had it at its end; empty: nobody, or one without a name"),
    step: z.string().describe("how far its worker says it is; of one that the queue failed, why"),
  })
  .meta({ id: "QueuedJob" });
export type QueuedJob = z.infer<typeof QueuedJob>;

/** How a run ended. */
export const JobRun = z
  .object({
    jobID: z.int(),
    tenant: z.string(),
    name: z.string(),
    owner: z.string(),
    outcome: z.string().describe("finished, failed or retried"),
    exit: z.int().nullable().describe("1xx retry, 2xx ok, 4xx failed, 5xx error; null: none was given"),
    code: RunCode.describe("why it stopped"),
    result: z.string().nullable().describe("null: there is none, or it is large: GET .../result"),
    result_bytes: z.int().nullable().describe("null: there is none"),
    created: time.describe("of the job"),
    started: time.nullable(),
    ended: time,
  })
  .meta({ id: "JobRun" });
export type JobRun = z.infer<typeof JobRun>;

export const JobEvent = z.object({ at: time, what: z.string(), by: z.string() }).meta({ id: "JobEvent" });

/** Everything about a job, also about one that has ended and gone. */
export const QueuedJobDetail = QueuedJob.extend({
  parentJobID: z.int().nullable(),
  children: z.array(z.int()),
  data: z.record(z.string(), z.unknown()),
  data_text: z
    .string()
    .optional()
    .describe("the data as JSON text: where they hold a number that JavaScript would round"),
  unique: z.boolean(),
  mock: z.boolean(),
  retryAfterCount: z.int(),
  reoffers: z.int().describe("how often it was lost in this run"),
  maxRunTime: z.int().nullable().describe("ms"),
  onFinish: z.string().nullable(),
  exit: z.int().nullable().describe("of its last run"),
  code: RunCode.nullable().describe("why its last run stopped; null: none has ended"),
  result_bytes: z.int().nullable(),
  unreadable: z
    .object({ problem: z.string(), bytes: z.string().describe("the record as it stands in ZooKeeper, as UTF-8") })
    .nullable()
    .describe("its record cannot be read: the other fields are what could be saved of it"),
  events: z.array(JobEvent).describe("the latest, oldest first"),
  runs: z.array(JobRun).describe("that have ended, newest first"),
}).meta({ id: "QueuedJobDetail" });
export type QueuedJobDetail = z.infer<typeof QueuedJobDetail>;

export const JobResult = z
  .object({ jobID: z.int(), exit: z.int().nullable(), code: RunCode, result: z.string().nullable(), ended: time })
  .meta({ id: "JobResult" });
export type JobResult = z.infer<typeof JobResult>;

/** A job that was taken by somebody who serves several tenants. */
export const FairlyTakenJob = TakenJob.extend({ tenant: z.string() }).meta({ id: "FairlyTakenJob" });
export type FairlyTakenJob = z.infer<typeof FairlyTakenJob>;

/** Names as the worker registry has them. */
export const JobWorker = z
  .object({
    Name: z.string(),
    InstanceId: z.string(),
    PrivateIp: z.string(),
    PublicIp: z.string(),
    Job: z.string().describe("the jobs that it runs, with commas; empty: idle"),
    Heartbeat: time,
    Stats: z.object({ Cpu: z.number(), Mem: z.number() }),
    Status: z.enum(["ALIVE", "DEAD"]),
    sysid: z.int(),
  })
  .meta({ id: "JobWorker" });
export type JobWorker = z.infer<typeof JobWorker>;

export const QueueShard = z
  .object({
    shard: z.int(),
    ensemble: z.string().describe("empty: the first one"),
    owner: z.string().nullable().describe("the job-api that has it; null: nobody just now"),
    term: z.int().nullable(),
    state: z.string().describe("as the one that answers sees it"),
    jobs: z.int().nullable().describe("in it, if it is the answering one's"),
  })
  .meta({ id: "QueueShard" });
export type QueueShard = z.infer<typeof QueueShard>;
