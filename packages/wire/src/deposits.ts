/** Batches and jobs as depositors and operators see them; both APIs speak of them in the same words. */
import { BATCH_STATES, EVENT_KINDS, JOB_STATES } from "@sluice/queue-core";
import { z } from "zod";
import { HoldView, jobState } from "./common.ts";

const time = z.iso.datetime().nullable();
const text = z.string().nullable();
const count = z.number().int().min(0);

const archived = {
  archived: z.boolean().describe("it has left the queue: this is what the archive knows"),
  archived_at: time,
};

export const BatchSummary = z
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
export type BatchSummary = z.infer<typeof BatchSummary>;

export const Batch = BatchSummary.extend({
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
export type Batch = z.infer<typeof Batch>;

export const JobSummary = z
  .object({
    id: z.string().describe("`jid-` and a UUID; either id is taken everywhere"),
    jid: z.string().describe("`jid` and ten digits"),
    bid: text.describe("its batch"),
    status: z.enum(JOB_STATES),
    message: z.string(),
    error_code: text.describe("of a failure: see the list of errors"),
    remedy: text.describe("what you can do about it"),
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
export type JobSummary = z.infer<typeof JobSummary>;

export const Job = JobSummary.extend({
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
export type Job = z.infer<typeof Job>;

/** A batch as operators see it: with what can be done about it now. */
export const BatchDetail = Batch.extend({
  notification: text.describe("whom the submission named to be told; null also for those who may not know"),
  hold: HoldView.nullable().describe("of its collection, now"),
  actions: z.array(z.string()).describe("what its state allows an operator to do"),
}).meta({ id: "BatchDetail" });
export type BatchDetail = z.infer<typeof BatchDetail>;

/** Whoever may submit to a collection sees to whom its mails go; others see how many they are. */
const mailSent = z.object({
  number: z.string().describe("`queued`, or the number of the report"),
  subject: z.string(),
  at: time,
  recipients: count,
  to: z.array(z.string()).nullable().describe("null: not for this caller's eyes"),
  outcome: z.enum(["sent", "refused"]).describe("as the mail server said"),
  detail: text,
});
export type MailSent = z.infer<typeof mailSent>;

const callback = z.object({
  about: z.enum(["completed", "failed"]),
  outcome: z
    .enum(["waiting", "delivered", "not-delivered", "over"])
    .describe("over: about a failed job, taken or given up; which of them is no longer known"),
  at: time.describe("of the last word about it"),
  attempts: count.nullable().describe("null: not counted"),
  to: text.describe("the receiver; null: its collection has no callback any more"),
  detail: text,
});
export type Callback = z.infer<typeof callback>;

export const JobDetail = Job.extend({
  callback: callback.nullable().describe("the news to the depositor's system; null: none was due so far"),
  mails: z.array(mailSent).describe("about its batch"),
  worker: text.describe("that has it in hand"),
  resume_at: jobState.nullable().describe("where a resume would go on; null: it cannot be resumed"),
  resume_choices: z.array(jobState),
  not_before: time.describe("not taken in hand before this"),
  hold: HoldView.nullable(),
  actions: z.array(z.string()),
}).meta({ id: "JobDetail" });
export type JobDetail = z.infer<typeof JobDetail>;

export const JobFile = z.object({ path: z.string(), bytes: z.number(), modified: z.iso.datetime() });
export type JobFile = z.infer<typeof JobFile>;

export const LogLine = z.object({
  at: time,
  level: z.string(),
  service: z.string(),
  message: z.string(),
  raw: z.string(),
});
export type LogLine = z.infer<typeof LogLine>;
