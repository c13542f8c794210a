/** Batches and jobs as depositors and operators see them. Addresses are shown without query: signed ones carry their secret there. */
import { z } from "zod";
import { batchState, HoldView, jobState, time } from "./common.ts";

export const BatchSummary = z.object({
  id: z.string().describe("bid and ten digits"),
  uuid: z.string().describe("bid- and a UUID; either id is taken everywhere"),
  state: batchState,
  collection: z.string(),
  submitter: z.string(),
  type: z.string(),
  title: z.string().nullable(),
  submitted: time.nullable(),
  modified: time.nullable(),
  rows: z.number().int().nullable().describe("jobs that it becomes; null until its manifest has been read"),
  made: z.number().int().describe("jobs made so far"),
  counts: z.object({
    processing: z.number().int(),
    failed: z.number().int(),
    completed: z.number().int(),
    deleted: z.number().int(),
  }),
  message: z.string(),
});
export type BatchSummary = z.infer<typeof BatchSummary>;

export const BatchDetail = BatchSummary.extend({
  payload_url: z.string(),
  update: z.boolean(),
  notification: z.string().nullable(),
  report: z.object({ at: time.nullable(), failed: z.number().int(), successful: z.number().int() }).nullable(),
  hold: HoldView.nullable().describe("of its collection, now"),
  actions: z.array(z.string()).describe("what its state allows an operator to do"),
  archived: z.boolean().describe("from the archive: it is no longer in the queue"),
});
export type BatchDetail = z.infer<typeof BatchDetail>;

export const JobSummary = z.object({
  id: z.string().describe("jid and ten digits"),
  uuid: z.string(),
  batch: z.string(),
  state: jobState,
  collection: z.string(),
  submitter: z.string(),
  name: z.string(),
  primary_id: z.string().nullable(),
  local_ids: z.array(z.string()),
  priority: z.number().int(),
  space_needed_bytes: z.number(),
  modified: time.nullable(),
  retries: z.number().int(),
  error_code: z.string().nullable(),
  message: z.string(),
  in_hand_by: z.string().nullable().describe("the worker that has it"),
  waits_because: z.string().nullable(),
  progress: z.object({ done_bytes: z.number(), total_bytes: z.number().nullable() }).nullable(),
});
export type JobSummary = z.infer<typeof JobSummary>;

export const JobEventView = z.object({
  at: time,
  kind: z.string(),
  state: jobState,
  by: z.string(),
  detail: z.string(),
  seconds: z.number().nullable().describe("since the claim"),
});

export const JobDetail = JobSummary.extend({
  payload_url: z.string(),
  payload_type: z.string(),
  update: z.boolean(),
  title: z.string().nullable(),
  creator: z.string().nullable(),
  date: z.string().nullable(),
  last_successful_state: jobState.nullable(),
  resume_at: jobState.nullable().describe("where a resume would go on; null: it cannot be resumed"),
  resume_choices: z.array(jobState),
  attempts: z.number().int(),
  not_before: time.nullable(),
  events: z.array(JobEventView),
  hold: HoldView.nullable(),
  actions: z.array(z.string()),
  archived: z.boolean(),
});
export type JobDetail = z.infer<typeof JobDetail>;

export const JobFile = z.object({ path: z.string(), bytes: z.number(), modified: time });
export const LogLine = z.object({
  at: time.nullable(),
  level: z.string(),
  service: z.string(),
  message: z.string(),
  raw: z.string(),
});
