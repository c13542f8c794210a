/** An object's name, and how it is written down. */
import type { Profile } from "@sluice/ingest-formats";
import type { Identifiers, Job } from "@sluice/queue-core";
import { type JobContext, snooze } from "@sluice/stage-runtime";
import type { ProcessorParts } from "../parts.ts";
import { modeOf } from "../store-mode.ts";
import type { Description } from "./description.ts";
import type { IdentitySource } from "./identity-source.ts";
import { ended, type Step, went } from "./step.ts";

export interface Identity {
  readonly ark: string;
  readonly source: IdentitySource;
  /** Nobody else can know it: it was minted, and no name leads to it before this run. */
  readonly fresh: boolean;
  readonly localIds: readonly string[];
}

/** What naming an object takes. */
export interface Naming {
  readonly job: Job;
  readonly ctx: JobContext;
  readonly parts: ProcessorParts;
  readonly profile: Profile;
  readonly description: Description;
}

/** If it is ours all the same, because only an answer was lost, it is not tried again without a pause. */
const NOT_OURS_MS = 1_000;

/** A re-run finds what an earlier run wrote down, with where it came from, and chooses the same. */
export async function writeDown({ job, ctx }: Naming, identity: Identity): Promise<Step<Identity>> {
  const identifiers = identifiersOf(job, identity);
  if (JSON.stringify(identifiers) === JSON.stringify(job.identifiers)) return went(identity);
  if (!(await ctx.record({ identifiers }))) return ended(snooze(NOT_OURS_MS, "the job is no longer ours"));
  await ctx.failpoint("afterIdentify");
  return went(identity);
}

/**
 * `primary_source` says that the ARK was not the depositor's: what mints must know what it still has to publish.
 * `names_of` says for which ARK an update has looked up the names that were there.
 */
export const identifiersOf = (job: Job, { ark, source, localIds }: Identity): Identifiers => ({
  ...job.identifiers,
  primary_id: ark,
  local_id: [...localIds],
  ...(source === "supplied" ? {} : { primary_source: source }),
  ...(modeOf(job) === "update" ? { names_of: ark } : {}),
});
