import { BATCH_ACTIONS, JOB_ACTIONS } from "@sluice/queue-core";
import { z } from "zod";
import { jobState, reason, time } from "./common.ts";

/** What can be asked for on a job: the table's actions, and another priority. */
export const JOB_REQUESTS = [...JOB_ACTIONS, "priority"] as const;
export const BATCH_REQUESTS = [...BATCH_ACTIONS, "clean-up"] as const;

const jobRequest = {
  action: z.enum(JOB_REQUESTS),
  reason,
  at: jobState.optional().describe("resume: an earlier stage's state than the right one"),
  priority: z.number().int().min(0).max(99).optional().describe("priority: 00 is first"),
  confirm: z
    .boolean()
    .optional()
    .describe(
      "needed to delete a job, for good, and to fail one whose depositor would be told by neither callback nor mail",
    ),
};
export const JobRequest = z.strictObject(jobRequest);
export type JobRequest = z.infer<typeof JobRequest>;

export const BatchRequest = z.strictObject({
  action: z.enum(BATCH_REQUESTS),
  reason,
  confirm: z.boolean().optional().describe("needed to delete a batch: for good, and no mail tells of it"),
});
export type BatchRequest = z.infer<typeof BatchRequest>;

export const SwitchRequest = z.strictObject({
  action: z.enum(["hold", "release"]),
  reason,
  until: time.optional().describe("hold: lifted by itself at this time"),
});
export type SwitchRequest = z.infer<typeof SwitchRequest>;

export const JobFilter = z.strictObject({
  ids: z.array(z.string().min(1).max(64)).min(1).max(10_000).optional(),
  states: z.array(jobState).min(1).optional(),
  batch: z.string().max(64).optional(),
  profile: z.string().max(128).optional(),
  submitter: z.string().max(200).optional(),
  error_code: z.string().max(64).optional(),
  q: z.string().min(1).max(200).optional().describe("as in the list of jobs: id, name, address, ARK or local id"),
  priority_from: z.number().int().min(0).max(99).optional(),
  priority_to: z.number().int().min(0).max(99).optional(),
  older_than_seconds: z.number().int().min(0).optional().describe("in its state for longer than this"),
});
export type JobFilter = z.infer<typeof JobFilter>;

export const BulkRequest = z.strictObject({
  ...jobRequest,
  filter: JobFilter,
  dry_run: z.boolean().default(false).describe("counts only"),
  expected_count: z.number().int().min(0).optional().describe("refused if the filter finds another number"),
});
export type BulkRequest = z.infer<typeof BulkRequest>;

export const BulkPreview = z.object({
  count: z.number().int(),
  by_state: z.record(z.string(), z.number().int()),
  by_profile: z.record(z.string(), z.number().int()),
  not_allowed: z.number().int().describe("found by the filter, but in a state that does not allow the action"),
  examples: z.array(z.object({ id: z.string(), status: jobState, profile: z.string(), message: z.string() })),
});
export type BulkPreview = z.infer<typeof BulkPreview>;

/** What is left of a batch that is over, of a bulk action under way, … */
export const OperationView = z.object({
  id: z.string(),
  action: z.string(),
  by: z.string(),
  reason: z.string(),
  state: z.enum(["running", "done", "stopped", "failed"]),
  started: time,
  ended: time.nullable(),
  total: z.number().int(),
  applied: z.number().int(),
  refused: z.array(z.object({ why: z.string(), count: z.number().int(), example: z.string() })),
});
export type OperationView = z.infer<typeof OperationView>;

/** The answer to an action that was carried out. */
export const Done = z.object({ done: z.literal(true), message: z.string() });
export type Done = z.infer<typeof Done>;
