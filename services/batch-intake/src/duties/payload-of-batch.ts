import { detectPayloadType, manifestKindOf, parseDigest, type ManifestKind } from "@sluice/ingest-formats";
import { type Batch, placeOfBatch } from "@sluice/queue-core";
import { type JobPayloadType, rowOfType, TAKEN_TYPES, typeOfSubmission } from "../payload-types.ts";
import type { PayloadFault, PayloadPlace, Payloads } from "../ports.ts";
import { inlineManifestNames, type Upload, uploadName, uploadsOf } from "@sluice/working-folder";

/** What a batch's payload turned out to be. */
export type BatchPayload =
  | { readonly ok: true; readonly kind: "single"; readonly job: JobPayloadType }
  | { readonly ok: true; readonly kind: "uploads"; readonly uploads: readonly Upload[] }
  | { readonly ok: true; readonly kind: "batch"; readonly job: JobPayloadType; readonly manifest: ManifestKind };

export async function payloadOfBatch(
  { id, submission }: Pick<Batch, "id" | "submission">,
  payloads: Payloads,
  signal: AbortSignal,
): Promise<BatchPayload | PayloadFault> {
  const uploads = uploadsOf(submission);
  if (uploads.length > 0) return { ok: true, kind: "uploads", uploads };
  let type = typeOfSubmission(submission.type);
  if (type === null) {
    const { profile_name: profile, payload_url: url } = submission;
    const head = await payloads.head({ batch: placeOfBatch({ id, submission }), profile, url }, signal);
    if (!head.ok) return head;
    type = detectPayloadType(head.name, head.text);
  }
  if (type === undefined) return unsupported(submission.type);
  const row = rowOfType(type);
  const manifest = manifestKindOf(type);
  if (row.batch && manifest !== undefined) return { ok: true, kind: "batch", job: row.job, manifest };
  return { ok: true, kind: "single", job: row.job };
}

/** What a frozen manifest is, and what its rows become; undefined if it is none that can be expanded. */
export async function frozenRowsOf(
  submitted: string,
  manifest: AsyncIterable<Uint8Array>,
): Promise<{ readonly job: JobPayloadType; readonly kind: ManifestKind } | undefined> {
  const type = typeOfSubmission(submitted) ?? detectPayloadType("", await headOfStream(manifest));
  const row = rowOfType(type);
  const kind = manifestKindOf(type);
  return row.batch && kind !== undefined ? { job: row.job, kind } : undefined;
}

async function headOfStream(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  for await (const chunk of chunks) return Buffer.from(chunk).toString("utf8");
  return "";
}

/** Rows of a batch manifest that we made name the manifests that we made with it, and nothing else that was uploaded. */
export function isBesideOf(submission: Batch["submission"]): (url: string) => boolean {
  const names = new Set(inlineManifestNames(submission));
  return (url) => names.has(uploadName(url) ?? "");
}

export const unsupported = (type: string): PayloadFault => ({
  ok: false,
  code: "UNSUPPORTED_TYPE",
  message: `payloads of type ${JSON.stringify(type)} are not taken; ${TAKEN_TYPES.join(", ")} are`,
  remedy: "none",
});

/** The place of a payload with the depositor's digest of it; a digest that we cannot compute is a fault of its own. */
export function placeOf(
  batch: PayloadPlace["batch"],
  of: {
    readonly profile_name: string;
    readonly payload_url: string;
    readonly digest_type?: string | undefined;
    readonly digest_value?: string | undefined;
  },
): { readonly ok: true; readonly place: PayloadPlace } | PayloadFault {
  const { batchId, batchEpoch } = batch;
  const place = { batch: { batchId, batchEpoch }, profile: of.profile_name, url: of.payload_url };
  // A type without a value says nothing, as in production.
  if (of.digest_type === undefined || of.digest_value === undefined || of.digest_value === "")
    return { ok: true, place };
  const digest = parseDigest(of.digest_type, of.digest_value);
  if (digest.ok) return { ok: true, place: { ...place, digest: digest.value } };
  const message = digest.problems.map((problem) => problem.message).join("; ");
  return { ok: false, code: "DIGEST_UNSUPPORTED", message, remedy: "none" };
}
