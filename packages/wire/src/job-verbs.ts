/** What each verb of the job queue takes, at every door: HTTP's operations and Bedrock's protocol both read it here. */
import type { Permission } from "@sluice/access";
import type { CommandVerb } from "./job-commands.ts";

export interface VerbRight {
  readonly permission: Permission;
  /** A caller with this one instead may ask for a part of it over HTTP, where the operation says which part. */
  readonly narrowed?: Permission;
}

/** Bedrock's protocol has these besides; HTTP has paths for them. */
type WireVerb = "DescribeJob" | "Query";

const USE: VerbRight = { permission: "use-jobs" };
const LOOK: VerbRight = { permission: "see-jobs" };
/** What schedules of deposits take. */
const SCHEDULE: VerbRight = { ...USE, narrowed: "schedule-deposits" };
/** It ends jobs that others have. */
const CRASH: VerbRight = { permission: "act-on-workers" };

export const VERB_RIGHTS: Readonly<Record<CommandVerb | WireVerb, VerbRight>> = {
  CreateJob: SCHEDULE,
  CreateJobs: USE,
  GetJob: USE,
  GetJobs: USE,
  QueryJob: LOOK,
  CancelJob: SCHEDULE,
  DeleteJob: SCHEDULE,
  UpdateJob: USE,
  FinishJob: USE,
  FailJob: USE,
  RetryJob: USE,
  RequeueJobs: USE,
  CrashBedrockJob: CRASH,
  ClearCrashedBedrockJobs: CRASH,
  Status: LOOK,
  DescribeJob: LOOK,
  Query: LOOK,
};

/** A map: what every object has, such as "constructor", is no verb. */
const BY_NAME: ReadonlyMap<string, VerbRight> = new Map(
  Object.entries(VERB_RIGHTS).map(([verb, right]) => [verb.toLowerCase(), right]),
);

/** In any case, as Bedrock takes them; null: there is no such verb. */
export const rightOfVerb = (verb: string): VerbRight | null => BY_NAME.get(verb.toLowerCase()) ?? null;
