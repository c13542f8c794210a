/** The object's ARK: given, found by the depositor's own name, or minted; written to the job before anything depends on it. */
import { parseArk, printArk, type Profile } from "@sluice/ingest-formats";
import type { Identifiers, Job } from "@sluice/queue-core";
import { fail, type JobContext, retry, snooze } from "@sluice/stage-runtime";
import type { MintAnswer, MintRequest } from "../minter/minter.ts";
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
  const chosen = await choose(job, parts, profile, description);
  if (!chosen.ok) return chosen;
  if (chosen.value === null) return mintNew(job, ctx, parts, profile, description);
  const identity = { ...chosen.value, localIds };
  const written = await writeDown(job, ctx, identity);
  if (!written.ok || identity.source !== "minted") return written;
  const registered = await register(job, ctx, parts, mintRequest(job, ctx, profile, description, identity.ark));
  return registered.kind === "ok" ? written : mintTrouble(registered);
}

type Chosen = Omit<Identity, "localIds">;

/** Null: nobody has a name for it yet. */
async function choose(
  job: Job,
  parts: ProcessorParts,
  profile: Profile,
  { primaryId, localIds }: Description,
): Promise<Step<Chosen | null>> {
  const known = knownArk(job, primaryId);
  if (!known.ok) return known;
  const found = await findByLocalIds(parts, profile, localIds);
  if (!found.ok || known.value === null) return found;
  if (found.value === null || found.value.ark === known.value.ark) return known;
  return ended(
    fail(
      "IDENTIFIER_CONFLICT",
      `${localIds.join("; ")} name ${found.value.ark}, and the job is for ${known.value.ark}`,
    ),
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

/** How often a proposed name may turn out to be another's before something is wrong with the minter. */
const NAMES_MAX = 3;

/** The name is in the job before the minter hears of it: whoever comes after us registers the same one. */
async function mintNew(
  job: Job,
  ctx: JobContext,
  parts: ProcessorParts,
  profile: Profile,
  description: Description,
): Promise<Step<Identity>> {
  let taken = "";
  for (let names = 0; names < NAMES_MAX; names += 1) {
    const proposed = parts.minter.propose(profile);
    if (!proposed.ok) return ended(fail("MINT_FAILED", proposed.message));
    const { ark } = proposed;
    const written = await writeDown(job, ctx, { ark, source: "minted", localIds: description.localIds });
    if (!written.ok) return written;
    const registered = await register(job, ctx, parts, mintRequest(job, ctx, profile, description, ark));
    if (registered.kind === "ok") return written;
    if (registered.kind !== "taken") return mintTrouble(registered);
    taken = registered.message;
  }
  return ended(fail("MINT_FAILED", taken));
}

async function register(job: Job, ctx: JobContext, parts: ProcessorParts, request: MintRequest): Promise<MintAnswer> {
  const answer = await parts.minter.register(request);
  await ctx.failpoint("afterMint");
  if (answer.kind === "taken") ctx.log.warn({ ark: request.ark, job: job.id }, "a proposed name is another's");
  return answer;
}

export const mintRequest = (
  { uuid, configuration }: Job,
  { signal }: JobContext,
  profile: Profile,
  { who, what, when, localIds }: Description,
  ark: string,
): MintRequest => {
  const retainTarget = String(configuration["retainTargetURL"]).toLowerCase() === "true";
  return { profile, ark, job: uuid, who, what, when, localIds, retainTarget, signal };
};

export function mintTrouble(answer: Exclude<MintAnswer, { kind: "ok" }>) {
  const passing = answer.kind === "unavailable";
  return ended(passing ? retry("MINT_FAILED", answer.message) : fail("MINT_FAILED", answer.message));
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
