/**
 * What the job queue's commands take and answer over HTTP. Types only: what is missing, too long or malformed is said by the
 * queue's own reader, in the same words at every door.
 */
import { z } from "zod";

const jobID = z.union([z.int(), z.string()]).optional().meta({ description: "the job's number" });
const data = z
  .union([z.record(z.string(), z.unknown()), z.string()])
  .optional()
  .meta({ description: "a JSON object, up to 1 MB; as a text it is kept byte for byte" });
const lease = z.string().optional().meta({ description: "the token that came with the job" });
const name = z.string().optional().meta({ description: "1 to 255 bytes" });
const jobPriority = z
  .union([z.int(), z.string()])
  .optional()
  .meta({ description: "0, 500 (if none is given) or 1000" });
const repeat = z.string().optional().meta({ description: "such as FINISHED, +1 DAY, START OF DAY, +4 HOURS" });
const nextRun = z.string().optional().meta({ description: "YYYY-MM-DD [HH:MM:SS], UTC" });
const flag = z.union([z.boolean(), z.string()]).optional();
const number = z.union([z.int(), z.string()]).optional();

export const NewJob = z
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
    maxRunTime: number.meta({ description: "ms" }),
    onFinish: z.string().optional().meta({
      description: "the name of a job of the same tenant that is made with the result when this one finishes",
    }),
  })
  .meta({ id: "NewJob" });
export type NewJob = z.infer<typeof NewJob>;

/** Nobody waits for the answer: 202, and it is done. */
const later = {
  connection: z.enum(["forget"]).optional().meta({ description: "forget: answered with 202 at once, and then done" }),
  commandExecuteTime: z.int().min(0).optional().meta({ description: "µs since 1970: 202 at once, and done then" }),
};

const worker = z
  .string()
  .max(128)
  .optional()
  .meta({ description: "the caller's name: the job's owner, once it takes it" });

const getFields = {
  ...later,
  name: z.string().optional().meta({ description: "a pattern (* ? [...]), or several names with commas between them" }),
  jobPriority,
  mockRequest: flag,
  getMockedJobs: flag,
  worker,
  leaseMs: number.meta({ description: "how long it is the caller's without a word from them: 1,000 to 3,600,000" }),
  connection: z.enum(["wait", "forget"]).optional(),
  timeout: z.int().min(0).max(3_600_000).optional().meta({ description: "ms to wait; 110,000 if not said" }),
};

const ofJob = z.strictObject({ ...later, jobID });
const holder = { ...later, jobID, data, lease };
const ended = { ...holder, worker };
const ending = {
  exitCode: z.int().optional().meta({ description: "1xx retry, 2xx ok, 4xx failed, 5xx error" }),
  result: z.string().optional().meta({ description: "any text, up to 16 MB" }),
  then: z
    .array(NewJob)
    .max(500)
    .optional()
    .meta({ description: "jobs that the run asked for, 256 KB of them: made with its end, or not at all" }),
};

/** By verb. */
export const COMMAND_BODIES = {
  CreateJob: z.strictObject({ ...later, ...NewJob.shape }),
  CreateJobs: z.strictObject({ ...later, jobs: z.array(NewJob).optional(), mockRequest: flag }),
  GetJob: z.strictObject(getFields),
  GetJobs: z.strictObject({ ...getFields, numResults: number }),
  QueryJob: ofJob,
  CancelJob: ofJob,
  DeleteJob: ofJob.extend({
    afterRun: flag.meta({ description: "one that runs just now ends with that run and does not repeat: 202" }),
  }),
  UpdateJob: z.strictObject({
    ...holder,
    repeat,
    shouldClearRepeat: flag,
    nextRun,
    jobPriority,
    step: z.string().optional(),
  }),
  FinishJob: z.strictObject({
    ...ended,
    ...ending,
    onFinish: z.string().optional().meta({ description: "as for a new job, if the job itself names none" }),
  }),
  FailJob: z.strictObject({ ...ended, ...ending }),
  RetryJob: z.strictObject({
    ...ended,
    ...ending,
    nextRun,
    delay: number.meta({ description: "seconds" }),
    name,
    jobPriority,
    ignoreRepeat: flag,
  }),
  RequeueJobs: z.strictObject({ ...later, jobIDs: z.array(z.int()).optional(), name, decrementFailures: flag }),
  CrashBedrockJob: z.strictObject({
    ...later,
    names: z.string().optional().meta({ description: "patterns (* ? [...]), with commas: their due jobs fail" }),
    name: z.string().optional().meta({ description: "the same as names" }),
  }),
  ClearCrashedBedrockJobs: z.strictObject(later),
  Status: z.strictObject({}),
} as const;

export type CommandVerb = keyof typeof COMMAND_BODIES;

const object = z.record(z.string(), z.unknown());
const CommandedJob = z
  .object({
    jobID: z.int(),
    name: z.string(),
    data: object,
    created: z.string(),
    lastRun: z.string(),
    nextRun: z.string(),
    repeat: z.string(),
    retryAfter: z.string(),
    priority: z.int(),
  })
  .meta({ id: "CommandedJob", description: "times as the commands take them: YYYY-MM-DD HH:MM:SS, UTC" });
export const TakenJob = CommandedJob.extend({
  lease: z.string(),
  parentJobID: z.int().optional(),
  parentData: object.optional(),
  finishedChildJobs: z.array(z.unknown()).optional(),
  cancelledChildJobs: z.array(z.unknown()).optional(),
}).meta({ id: "TakenJob" });
export type TakenJob = z.infer<typeof TakenJob>;
const nothing = z.object({});

export const COMMAND_ANSWERS = {
  CreateJob: z.object({ jobID: z.int() }),
  CreateJobs: z.object({ jobIDs: z.array(z.int()) }),
  /** Empty when the job that was found turned out to be poison. */
  GetJob: TakenJob.partial(),
  GetJobs: z.object({ jobs: z.array(TakenJob) }),
  QueryJob: CommandedJob.extend({ state: z.string() }),
  CancelJob: nothing,
  DeleteJob: nothing,
  UpdateJob: nothing,
  FinishJob: nothing,
  FailJob: nothing,
  RetryJob: nothing,
  RequeueJobs: nothing,
  CrashBedrockJob: nothing,
  ClearCrashedBedrockJobs: nothing,
  Status: z.object({ crashedBedrockJobs: z.int(), crashedBedrockJobsList: z.array(z.string()) }),
} as const satisfies Readonly<Record<CommandVerb, z.ZodType>>;
