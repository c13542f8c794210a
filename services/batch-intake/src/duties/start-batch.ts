/** Pending batches: the whole manifest is fetched, validated and frozen before the first job is made. */
import type { ManifestKind } from "@sluice/ingest-formats";
import { type Batch, placeOfBatch } from "@sluice/queue-core";
import { type BatchContext, type BatchOutcome, type BatchStage, retry } from "@sluice/stage-runtime";
import type { Payloads, ProfileOf } from "../ports.ts";
import { inlineManifestNames } from "@sluice/working-folder";
import { outcomeOfFault } from "./outcome-of-fault.ts";
import { isBesideOf, payloadOfBatch, placeOf } from "./payload-of-batch.ts";
import { type ManifestRules, surveyManifest } from "./survey-manifest.ts";

export interface StartBatchPorts {
  readonly payloads: Payloads;
  readonly profileOf: ProfileOf;
  readonly rules: ManifestRules;
}

export function startBatchStage(ports: StartBatchPorts): BatchStage {
  return { kind: "batch-stage", takes: "Pending", handle: (batch, ctx) => startBatch(ports, batch, ctx) };
}

async function startBatch(ports: StartBatchPorts, batch: Batch, ctx: BatchContext): Promise<BatchOutcome> {
  const profile = ports.profileOf(batch.submission.profile_name);
  if (!profile.ok) return retry("PROFILE_UNKNOWN", profile.problem);
  const payload = await payloadOfBatch(batch, ports.payloads, ctx.signal);
  if (!payload.ok) return outcomeOfFault(payload);
  // One payload, one job: the job's own check looks at it.
  if (payload.kind === "single") return { kind: "start", rows: 1, digest: "" };
  if (payload.kind === "uploads") return { kind: "start", rows: payload.uploads.length, digest: "" };
  return startManifest(ports, batch, payload.manifest, ctx);
}

async function startManifest(
  { payloads, rules }: StartBatchPorts,
  { id, submission }: Batch,
  kind: ManifestKind,
  ctx: BatchContext,
): Promise<BatchOutcome> {
  const located = placeOf(placeOfBatch({ id, submission }), submission);
  if (!located.ok) return outcomeOfFault(located);
  await ctx.failpoint("beforeEffect");
  const frozen = await payloads.freezeManifest(located.place, ctx.signal);
  if (!frozen.ok) return outcomeOfFault(frozen);
  await ctx.failpoint("afterEffect");
  const survey = await surveyManifest(payloads.read(frozen.path), kind, {
    ...rules,
    // What we have written ourselves is not held to the rules of a format's validator.
    ...(inlineManifestNames(submission).length > 0 ? { mode: "default" } : {}),
    ownUrl: submission.payload_url,
    isBeside: isBesideOf(submission),
  });
  if (!survey.ok) return { kind: "fail", code: "MANIFEST_CORRUPT", message: survey.message };
  ctx.log.info({ rows: survey.rows }, "manifest validated");
  return { kind: "start", rows: survey.rows, digest: frozen.sha256 };
}
