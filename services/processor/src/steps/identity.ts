/** The object's ARK: given, found by the depositor's own name, or minted; written to the job before anything depends on it. */
import { parseArk, printArk, type Profile } from "@sluice/ingest-formats";
import type { Identifiers, Job } from "@sluice/queue-core";
import { fail, type JobContext, retry, snooze } from "@sluice/stage-runtime";
import type { ProcessorParts } from "../parts.ts";
import type { Description } from "./description.ts";
import { type IdentitySource, sourceOfBefore } from "./identity-source.ts";
import { unusableLocalId } from "./local-id.ts";
import { ended, type Step, went } from "./step.ts";

export interface Identity {
  readonly ark: string;
  readonly source: IdentitySource;
  readonly localIds: readonly string[];
}

export async function identify(
  job: Job,
  ctx: JobContext,
  parts: ProcessorParts,
  profile: Profile,
  description: Description,
): Promise<Step<Identity>> {
  const { localIds } = description;
  const unusable = unusableLocalId(localIds);
  if (unusable !== null) return ended(fail("IDENTIFIER_CONFLICT", unusable));
  const locks = localIds.map((localId) => ({ kind: "localid" as const, localId, ownerArk: profile.owner }));
  if (locks.length > 0 && !(await ctx.lockObjects(locks))) {
    return ended(snooze(parts.busyWaitMs, `another job works on the local ids ${localIds.join("; ")}`));
  }
  const chosen = await choose(job, ctx, parts, profile, description);
  if (!chosen.ok) return chosen;
  return writeDown(job, ctx, { ...chosen.value, localIds });
}

type Chosen = Omit<Identity, "localIds">;

async function choose(
  job: Job,
  ctx: JobContext,
  parts: ProcessorParts,
  profile: Profile,
  { primaryId, localIds }: Description,
): Promise<Step<Chosen>> {
  const known = knownArk(job, primaryId);
  if (!known.ok) return known;
  const found = await findByLocalIds(parts, profile, localIds);
  if (!found.ok) return found;
  const chosen = known.value ?? found.value;
  if (chosen === null) return mint(ctx, parts, profile);
  if (found.value === null || found.value.ark === chosen.ark) return went(chosen);
  return ended(
    fail("IDENTIFIER_CONFLICT", `${localIds.join("; ")} name ${found.value.ark}, and the job is for ${chosen.ark}`),
  );
}

/** What an earlier run wrote down, or the depositor's own. */
function knownArk({ identifiers }: Job, primaryId: string | undefined): Step<Chosen | null> {
  const before = sourceOfBefore(identifiers);
  if (before !== null && identifiers?.primary_id != null) return went({ ark: identifiers.primary_id, source: before });
  if (primaryId === undefined) return went(null);
  const ark = parseArk(primaryId);
  if (!ark.ok) return ended(fail("IDENTIFIER_CONFLICT", `the primary identifier ${primaryId} is no ARK`));
  return went({ ark: printArk(ark.value), source: "supplied" });
}

async function findByLocalIds(
  parts: ProcessorParts,
  profile: Profile,
  localIds: readonly string[],
): Promise<Step<Chosen | null>> {
  if (localIds.length === 0) return went(null);
  const answer = await parts.localIds.find(profile.owner, localIds);
  switch (answer.kind) {
    case "none":
      return went(null);
    case "found":
      return went({ ark: answer.ark, source: "found" });
    case "conflict":
      return ended(fail("IDENTIFIER_CONFLICT", `${localIds.join("; ")} name several objects: ${answer.message}`));
    case "unavailable":
      return ended(retry("RECORD_FAILED", `the inventory cannot be asked for local ids: ${answer.message}`));
  }
}

async function mint(ctx: JobContext, parts: ProcessorParts, profile: Profile): Promise<Step<Chosen>> {
  const minted = await parts.minter.mint(profile);
  if (minted.kind === "refused") return ended(fail("MINT_FAILED", minted.message));
  if (minted.kind === "unavailable") return ended(retry("MINT_FAILED", minted.message));
  await ctx.failpoint("afterMint");
  return went({ ark: minted.ark, source: "minted" });
}

/** A re-run finds what an earlier run wrote down, with where it came from, and chooses the same. */
async function writeDown(job: Job, ctx: JobContext, identity: Identity): Promise<Step<Identity>> {
  const identifiers = identifiersOf(job, identity);
  if (JSON.stringify(identifiers) === JSON.stringify(job.identifiers)) return went(identity);
  if (!(await ctx.record({ identifiers }))) return ended(retry("UNEXPECTED", "the job was taken from us"));
  await ctx.failpoint("afterIdentify");
  return went(identity);
}

/** `primary_source` says that the ARK was not the depositor's: what mints must know what it still has to publish. */
export const identifiersOf = (job: Job, { ark, source, localIds }: Identity): Identifiers => ({
  ...job.identifiers,
  primary_id: ark,
  local_id: [...localIds],
  ...(source === "supplied" ? {} : { primary_source: source }),
});
