/** Takes Processing: describes the object, gives it its ARK, sees that it may be written to, stores it. */
import type { Profile } from "@sluice/ingest-formats";
import type { Job } from "@sluice/queue-core";
import { done, fail, type JobContext, type JobStage, type Outcome, retry } from "@sluice/stage-runtime";
import type { MintRequest } from "./minter/minter.ts";
import type { ProcessorParts } from "./parts.ts";
import { deletionsOf } from "./steps/deletions.ts";
import { describe, type Description } from "./steps/description.ts";
import { judgeEmbargo } from "./steps/embargo.ts";
import { type VerifiedFile, verifyFixity } from "./steps/fixity.ts";
import { type Identified, identify } from "./steps/identity.ts";
import { mintRequest, mintTrouble } from "./steps/mint.ts";
import { identifiersOf, type Identity } from "./steps/naming.ts";
import { foreign } from "./steps/ownership.ts";
import { packageObject } from "./steps/package-object.ts";
import { readReserved, type ReservedFiles } from "./steps/reserved-files.ts";
import { openWorkplace, type Workplace } from "./steps/workplace.ts";
import { modeOf } from "./store-mode.ts";
import type { StoreRequest, StoreResult } from "./store/object-store.ts";

export const processingStage = (parts: ProcessorParts): JobStage => ({
  kind: "job-stage",
  takes: "Processing",
  handle: (job, ctx) => processJob(job, ctx, parts),
});

async function processJob(job: Job, ctx: JobContext, parts: ProcessorParts): Promise<Outcome> {
  const lookup = parts.profiles.get(job.configuration.profile_name);
  if (!lookup.ok) return fail("PROFILE_UNKNOWN", lookup.problem);
  const place = await openWorkplace(job, parts);
  if (!place.ok) return place.outcome;
  const verified = await verifyFixity(job, place.value.kept, ctx, parts);
  if (!verified.ok) return verified.outcome;
  const reserved = await readReserved(verified.value, place.value.kept, parts);
  if (!reserved.ok) return reserved.outcome;
  const embargo = judgeEmbargo(reserved.value);
  if (embargo !== null) return embargo;
  const object = { profile: lookup.profile, place: place.value, producer: verified.value, reserved: reserved.value };
  return storeObject(job, ctx, parts, object);
}

/** What is known of an object before it has its name. */
interface ObjectInHand {
  readonly profile: Profile;
  readonly place: Workplace;
  readonly producer: readonly VerifiedFile[];
  readonly reserved: ReservedFiles;
}

async function storeObject(
  job: Job,
  ctx: JobContext,
  parts: ProcessorParts,
  { profile, place, producer, reserved }: ObjectInHand,
): Promise<Outcome> {
  const warn = (file: string, problems: readonly string[]): void =>
    ctx.log.warn({ file, problems }, "a file of the producer cannot be read and is stored as it is");
  const description = describe({ job, profile, files: reserved, warn });
  const naming = { job, ctx, parts, profile, description };
  const identified = await identify(naming);
  if (!identified.ok) return identified.outcome;
  const identity = identified.value;
  const submitted = submissionDate(job, ctx);
  const deletions = deletionsOf(modeOf(job), reserved, producer);
  const storageService = parts.store.name;
  const facts = { job, profile, description, identity, storageService, submitted, deleteList: deletions.list };
  const packaged = await packageObject(facts, deletions.producer, place, parts);
  if (!packaged.ok) return packaged.outcome;
  const stored = await store(job, ctx, parts, identity, {
    files: packaged.value,
    deletes: deletions.paths,
    writer: profile,
    node: profile.storageNode,
  });
  if (stored.kind === "foreign") return foreign(profile.profileId, identity, description.localIds);
  if (stored.kind !== "stored") return notStored(stored);
  const published = await publish(ctx, parts, isNewHere(identity, stored), mintRequest(naming, identity.ark));
  return published ?? settle(job, stored, identity, description);
}

/** Minted by this job, or by one that registered it and was given up before it stored anything. */
const isNewHere = ({ source }: Identity, { version }: Stored): boolean =>
  source === "minted" || (source === "found" && version === 1);

/** Null, or how the job ends: an ARK that we minted must become public, another's may. */
async function publish(
  ctx: JobContext,
  parts: ProcessorParts,
  mustBePublic: boolean,
  request: MintRequest,
): Promise<Outcome | null> {
  const answer = await parts.minter.publish(request);
  await ctx.failpoint("afterPublish");
  if (answer.kind === "ok") return null;
  if (mustBePublic) return mintTrouble(answer).outcome;
  ctx.log.warn({ ark: request.ark, why: answer.message }, "the minter was not told where an ARK leads");
  return null;
}

/** Of the submission if the job knows it. */
function submissionDate({ configuration }: Job, { clock }: JobContext): string {
  const given = configuration["submission_date"];
  return typeof given === "string" ? given : new Date(clock.nowMs()).toISOString();
}

async function store(
  job: Job,
  ctx: JobContext,
  parts: ProcessorParts,
  { ark, fresh, judged }: Identified,
  content: Pick<StoreRequest, "files" | "deletes" | "node" | "writer">,
): Promise<StoreResult> {
  const request: StoreRequest = {
    ark,
    job: job.uuid,
    mode: modeOf(job),
    fresh,
    judged,
    note: `${job.id} of ${job.batchId}`,
    user: job.configuration.submitter,
    created: new Date(ctx.clock.nowMs()).toISOString(),
    ...content,
  };
  const checkpoint = async (step: string): Promise<void> => {
    await ctx.failpoint(step);
    ctx.signal.throwIfAborted();
  };
  await checkpoint("beforeEffect");
  const stored = await parts.store.put(request, { signal: ctx.signal, checkpoint });
  await checkpoint("afterEffect");
  if (stored.kind === "stored") ctx.log.info({ ark, version: stored.version, files: content.files.length }, "stored");
  return stored;
}

const notStored = ({ kind, message }: Exclude<StoreResult, { kind: "stored" | "foreign" }>): Outcome =>
  kind === "refused" ? fail("STORE_FAILED", message) : retry("STORE_FAILED", message);

type Stored = Extract<StoreResult, { kind: "stored" }>;

function settle(job: Job, stored: Stored, identity: Identity, description: Description): Outcome {
  return done({
    identifiers: identifiersOf(job, identity),
    metadata: {
      ...job.metadata,
      erc_who: description.who,
      erc_what: description.what,
      erc_when: description.when,
      erc_where: [identity.ark, ...identity.localIds].join("; "),
    },
    inventory: { manifest_url: stored.manifestUrl, mode: stored.mode, version: stored.version },
  });
}
