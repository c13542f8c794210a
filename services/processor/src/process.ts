/** Takes Processing: describes the object, gives it its ARK, stores it. */
import type { Job } from "@sluice/queue-core";
import { done, fail, type JobContext, type JobStage, type Outcome, retry, snooze } from "@sluice/stage-runtime";
import type { ProcessorParts } from "./parts.ts";
import { describe, type Description } from "./steps/description.ts";
import { verifyFixity } from "./steps/fixity.ts";
import { identifiersOf, identify, type Identity } from "./steps/identity.ts";
import { packageObject } from "./steps/package-object.ts";
import { openWorkplace } from "./steps/workplace.ts";
import type { StoreFile, StoreRequest, StoreResult } from "./store/object-store.ts";

export const processingStage = (parts: ProcessorParts): JobStage => ({
  kind: "job-stage",
  takes: "Processing",
  handle: (job, ctx) => processJob(job, ctx, parts),
});

async function processJob(job: Job, ctx: JobContext, parts: ProcessorParts): Promise<Outcome> {
  const { configuration } = job;
  const lookup = parts.profiles.get(configuration.profile_name);
  if (!lookup.ok) return fail("PROFILE_UNKNOWN", lookup.problem);
  const place = await openWorkplace(job, parts);
  if (!place.ok) return place.outcome;
  const verified = await verifyFixity(job, place.value.kept, ctx, parts);
  if (!verified.ok) return verified.outcome;
  const description = await describe(job, place.value.kept, ctx.log);
  const identified = await identify(job, ctx, parts, lookup.profile, description);
  if (!identified.ok) return identified.outcome;
  const identity = identified.value;
  if (!(await ctx.lockObjects([{ kind: "storage", ark: identity.ark }]))) {
    return snooze(parts.busyWaitMs, `another job works on ${identity.ark}`);
  }
  const submitted = submissionDate(job, ctx);
  const facts = { job, profile: lookup.profile, description, identity, storageService: parts.store.name, submitted };
  const packaged = await packageObject(facts, verified.value, place.value, parts);
  if (!packaged.ok) return packaged.outcome;
  const stored = await store(job, ctx, parts, identity, packaged.value);
  return settle(job, stored, identity, description);
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
  { ark }: Identity,
  files: readonly StoreFile[],
): Promise<StoreResult> {
  const request: StoreRequest = {
    ark,
    job: job.uuid,
    mode: job.configuration.submission_mode.toLowerCase() === "update" ? "update" : "add",
    note: `${job.id} of ${job.batchId}`,
    user: job.configuration.submitter,
    created: new Date(ctx.clock.nowMs()).toISOString(),
    files,
  };
  const checkpoint = async (step: string): Promise<void> => {
    await ctx.failpoint(step);
    ctx.signal.throwIfAborted();
  };
  await checkpoint("beforeEffect");
  const stored = await parts.store.put(request, { signal: ctx.signal, checkpoint });
  await checkpoint("afterEffect");
  if (stored.kind === "stored") ctx.log.info({ ark, version: stored.version, files: files.length }, "stored");
  return stored;
}

function settle(job: Job, stored: StoreResult, identity: Identity, description: Description): Outcome {
  if (stored.kind === "refused") return fail("STORE_FAILED", stored.message);
  if (stored.kind === "unavailable") return retry("STORE_FAILED", stored.message);
  return done({
    identifiers: identifiersOf(job, identity),
    metadata: {
      ...job.metadata,
      erc_who: description.who,
      erc_what: description.what,
      erc_when: description.when,
      erc_where: [identity.ark, ...identity.localIds].join("; "),
    },
    inventory: { manifest_url: stored.manifestUrl, mode: stored.mode },
  });
}
