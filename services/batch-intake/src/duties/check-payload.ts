/** Pending jobs: what is already here is checked, and an object manifest is brought here, before others work on it. */
import type { Job } from "@sluice/queue-core";
import { done, fail, type JobContext, type JobStage, type Outcome } from "@sluice/stage-runtime";
import { uploadName } from "@sluice/working-folder";
import type { PayloadPlace, Payloads } from "../ports.ts";
import { outcomeOfFault } from "./outcome-of-fault.ts";
import { placeOf, unsupported } from "./payload-of-batch.ts";
import { type ManifestRules, surveyManifest } from "./survey-manifest.ts";

export interface CheckPayloadPorts {
  readonly payloads: Payloads;
  readonly rules: ManifestRules;
}

export function checkPayloadStage(ports: CheckPayloadPorts): JobStage {
  return { kind: "job-stage", takes: "Pending", handle: (job, ctx) => checkPayload(ports, job, ctx) };
}

async function checkPayload(ports: CheckPayloadPorts, job: Job, ctx: JobContext): Promise<Outcome> {
  const located = placeOf(job, job.configuration);
  if (!located.ok) return outcomeOfFault(located);
  switch (job.configuration.payload_type) {
    case "file":
    case "container":
      return checkFile(ports, located.place, ctx);
    case "manifest":
      return keepManifest(ports, located.place, job, ctx);
    default:
      return outcomeOfFault(unsupported(job.configuration.payload_type));
  }
}

/** A file that is still out there is the downloader's to check. */
async function checkFile({ payloads }: CheckPayloadPorts, place: PayloadPlace, ctx: JobContext): Promise<Outcome> {
  if (uploadName(place.url) === null) return done();
  const checked = await payloads.checkUpload(place, ctx.signal);
  return checked.ok ? done() : outcomeOfFault(checked);
}

async function keepManifest(
  { payloads, rules }: CheckPayloadPorts,
  place: PayloadPlace,
  job: Job,
  ctx: JobContext,
): Promise<Outcome> {
  await ctx.failpoint("beforeEffect");
  const kept = await payloads.keepManifest(place, job, ctx.signal);
  if (!kept.ok) return outcomeOfFault(kept);
  await ctx.failpoint("afterEffect");
  const survey = await surveyManifest(payloads.read(kept.path), "object-manifest", rules);
  if (!survey.ok) return fail("MANIFEST_CORRUPT", survey.message);
  return done({ keepFiles: true });
}
