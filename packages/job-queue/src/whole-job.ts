/**
 * Every job in an owner's memory has the same fields in the same order, those that it lacks being undefined, which is not
 * written. A field that is added later makes an object of another kind, and copying such ones costs twenty times as much.
 */
import type { Job } from "./records.ts";

type Given = Pick<Job, "name" | "tenant" | "state" | "priority" | "nextRun" | "created" | "data" | "ev">;
export type JobFields = Given & { readonly [Key in Exclude<keyof Job, keyof Given>]?: Job[Key] | undefined };

export const wholeJob = (fields: JobFields): Job => ({
  v: 1,
  name: fields.name,
  tenant: fields.tenant,
  state: fields.state,
  priority: fields.priority,
  nextRun: fields.nextRun,
  lastRun: fields.lastRun,
  created: fields.created,
  repeat: fields.repeat,
  unique: fields.unique,
  retryAfter: fields.retryAfter,
  retryAfterCount: fields.retryAfterCount,
  reoffers: fields.reoffers,
  parent: fields.parent,
  gate: fields.gate,
  phase: fields.phase,
  cleared: fields.cleared,
  endedIn: fields.endedIn,
  leaving: fields.leaving,
  grp: fields.grp,
  mock: fields.mock,
  lease: fields.lease,
  maxRunTime: fields.maxRunTime,
  step: fields.step,
  onFinish: fields.onFinish,
  data: fields.data,
  dataRef: fields.dataRef,
  ev: fields.ev,
});
