/** What callers see of batches and jobs. The documentation is made from here. */
import { BATCH_STATES, EVENT_KINDS, JOB_STATES } from "@sluice/queue-core";
import { z } from "zod";

const time = z.iso.datetime().nullable();
const text = z.string().nullable();
const count = z.number().int().min(0);

const archived = {
  archived: z.boolean().describe("it has left the queue: this is what the archive knows"),
  archived_at: time,
};

export const BatchSummarySchema = z
  .object({
    id: z.string().describe("`bid-` and a UUID; either id is taken everywhere"),
    bid: z.string().describe("`bid` and ten digits"),
    status: z.enum(BATCH_STATES),
    message: z.string().describe("why it is held or failed, in words"),
    error_code: text.describe("of a failure: see the list of errors"),
    last_modified: time,
    submitted: time,
    profile: z.string(),
    submitter: z.string(),
    submission_mode: z.string(),
    type: text.describe("null while it is still to be found from the content"),
    payload_url: z.string().describe("without its query, where signed addresses carry their secret"),
    payload_name: text,
    title: text,
    creator: text,
    date: text,
    primary_id: text,
    local_id: z.array(z.string()),
    rows: count.nullable().describe("jobs that it becomes; null until its manifest has been validated"),
    created: count.describe("jobs made so far"),
    counts: z
      .object({ processing: count, failed: count, completed: count, deleted: count })
      .describe("its jobs, by what became of them"),
  })
  .meta({ id: "BatchSummary" });
export type ShownBatchSummary = z.infer<typeof BatchSummarySchema>;

export const BatchSchema = BatchSummarySchema.extend({
  report: z
    .object({
      last_modified: time,
      successful: count,
      failed: count,
      failed_jobs: z.array(z.string()).describe("the first hundred; all of them are at `/jobs?state=failed`"),
    })
    .nullable()
    .describe("what was mailed when its last job had ended"),
  ...archived,
}).meta({ id: "Batch" });
export type ShownBatch = z.infer<typeof BatchSchema>;

export const JobSummarySchema = z
  .object({
    id: z.string().describe("`jid-` and a UUID; either id is taken everywhere"),
    jid: z.string().describe("`jid` and ten digits"),
    bid: text.describe("its batch"),
    status: z.enum(JOB_STATES),
    message: z.string(),
    error_code: text.describe("of a failure: see the list of errors"),
    remedy: text.describe("what can be done about it"),
    last_modified: time,
    last_successful_status: z.enum(JOB_STATES).nullable(),
    retry_count: count,
    attempts: count.describe("in this state"),
    waiting_for: text,
    working_on_it: text.describe("the stage that has it in hand"),
    priority: count.nullable().describe("00 is first; null in the archive"),
    space_needed: count.nullable().describe("bytes; null in the archive"),
    profile: z.string(),
    submitter: z.string(),
    type: z.string(),
    payload_url: z.string().describe("without its query"),
    payload_name: text,
    primary_id: text,
    local_id: z.array(z.string()),
    title: text,
    creator: text,
    date: text,
  })
  .meta({ id: "JobSummary" });
export type ShownJobSummary = z.infer<typeof JobSummarySchema>;

export const JobSchema = JobSummarySchema.extend({
  progress: z
    .object({ done_bytes: z.number(), total_bytes: z.number().nullable(), note: text })
    .nullable()
    .describe("of the work in hand, as far as its worker has told"),
  events: z
    .array(
      z.object({
        at: z.iso.datetime(),
        kind: z.enum(EVENT_KINDS),
        state: z.enum(JOB_STATES).describe("in which it happened"),
        by: z.string().describe("worker or operator"),
        detail: text,
        seconds: count.nullable().describe("since the job was taken in hand"),
      }),
    )
    .describe("the last dozen, oldest first"),
  ...archived,
}).meta({ id: "Job" });
export type ShownJob = z.infer<typeof JobSchema>;
