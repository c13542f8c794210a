/**
 * What the commands take and answer over HTTP. Types only: what is missing, too long or malformed is said by the queue's own
 * reader, in the same words at every door.
 */
import { z } from "zod";

const jobID = z.union([z.int(), z.string()]).optional().meta({ description: "the job's number" });
const data = z
  .union([z.record(z.string(), z.unknown()), z.string()])
  .optional()
  .meta({ description: "a JSON object; as a text it is kept byte for byte" });
const lease = z.string().optional().meta({ description: "the token that came with the job" });
const name = z.string().optional().meta({ description: "1 to 255 bytes" });
const jobPriority = z
  .union([z.int(), z.string()])
  .optional()
  .meta({ description: "0, 500 (if none is given) or 1000" });
const repeat = z.string().optional().meta({ description: "such as FINISHED, +1 DAY, START OF DAY, +4 HOURS" });
const nextRun = z.string().optional().meta({ description: "YYYY-MM-DD [HH:MM:SS], UTC" });
const flag = z.union([z.boolean(), z.string()]).optional();

const NewJobSchema = z
  .strictObject({
    name,
    data,
    jobPriority,
    repeat,
    unique: flag,
    overwrite: flag,
    parentJobID: jobID,
    firstRun: nextRun,
    retryAfter: z.string().optional().meta({ description: "modifiers such as +5 MINUTES" }),
    mockRequest: flag,
    maxRunTime: z.union([z.int(), z.string()]).optional().meta({ description: "ms" }),
  })
  .meta({ id: "NewJob" });

const getFields = {
  name: z.string().optional().meta({ description: "a pattern (* ? [...]), or several names with commas between them" }),
  jobPriority,
  mockRequest: flag,
  getMockedJobs: flag,
  worker: z.string().max(128).optional().meta({
    description: "who takes it and will renew its lease every few seconds; without, the lease is of 300 s",
  }),
  connection: z.enum(["wait"]).optional(),
  timeout: z.int().min(0).max(3_600_000).optional().meta({ description: "ms to wait; 110,000 if not said" }),
};

const ofJob = z.strictObject({ jobID });
const holder = { jobID, data, lease };

/** By verb. */
export const COMMAND_BODIES = {
  CreateJob: NewJobSchema,
  CreateJobs: z.strictObject({ jobs: z.array(NewJobSchema).optional(), mockRequest: flag }),
  GetJob: z.strictObject(getFields),
  GetJobs: z.strictObject({ ...getFields, numResults: z.union([z.int(), z.string()]).optional() }),
  QueryJob: ofJob,
  CancelJob: ofJob,
  DeleteJob: ofJob,
  UpdateJob: z.strictObject({
    ...holder,
    repeat,
    shouldClearRepeat: flag,
    nextRun,
    jobPriority,
    step: z.string().optional(),
  }),
  FinishJob: z.strictObject({ ...holder, exitCode: z.int().optional(), result: z.string().optional() }),
  FailJob: z.strictObject(holder),
  RetryJob: z.strictObject({
    ...holder,
    nextRun,
    delay: z.union([z.int(), z.string()]).optional().meta({ description: "seconds" }),
    name,
    jobPriority,
    ignoreRepeat: flag,
  }),
  RequeueJobs: z.strictObject({ jobIDs: z.array(z.int()).optional(), name, decrementFailures: flag }),
} as const;

export type CommandVerb = keyof typeof COMMAND_BODIES;

const JobSchema = z
  .object({
    jobID: z.int(),
    name: z.string(),
    data: z.record(z.string(), z.unknown()),
    created: z.string(),
    lastRun: z.string(),
    nextRun: z.string(),
    repeat: z.string(),
    retryAfter: z.string(),
    priority: z.int(),
  })
  .meta({ id: "Job" });
const TakenSchema = JobSchema.extend({
  lease: z.string(),
  parentJobID: z.int().optional(),
  parentData: z.record(z.string(), z.unknown()).optional(),
  finishedChildJobs: z.array(z.unknown()).optional(),
  cancelledChildJobs: z.array(z.unknown()).optional(),
}).meta({ id: "TakenJob" });
const StateSchema = JobSchema.extend({ state: z.string() }).meta({ id: "JobWithState" });
const nothing = z.object({});

export const COMMAND_ANSWERS: Readonly<Record<CommandVerb, z.ZodType>> = {
  CreateJob: z.object({ jobID: z.int() }),
  CreateJobs: z.object({ jobIDs: z.array(z.int()) }),
  GetJob: TakenSchema.partial(),
  GetJobs: z.object({ jobs: z.array(TakenSchema) }),
  QueryJob: StateSchema,
  CancelJob: nothing,
  DeleteJob: nothing,
  UpdateJob: nothing,
  FinishJob: nothing,
  FailJob: nothing,
  RetryJob: nothing,
  RequeueJobs: nothing,
};

export const RenewBodySchema = z.strictObject({
  leases: z.array(z.strictObject({ jobID: z.int(), lease: z.string() })).max(10_000),
});
export const RenewAnswerSchema = z.object({ lost: z.array(z.int()) });
export const ListAnswerSchema = z.object({ jobs: z.array(StateSchema) });
