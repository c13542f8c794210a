/** What becomes of a payload or of a row of a batch manifest: the description of one job. Pure. */
import { batchPriority, type ManifestRow, parseLocalIds, parsePayloadType } from "@sluice/ingest-formats";
import type { Identifiers, JobSpec, Metadata, Submission } from "@sluice/queue-core";
import { type JobPayloadType, rowOfType } from "../payload-types.ts";
import { nameOfUrl } from "../submission/payload-name.ts";
import { type Upload, uploadUrl } from "@sluice/working-folder";

export interface BatchFacts {
  readonly submission: Submission;
  readonly rows: number;
  /** The profile's own priority, which takes precedence over the batch's size. */
  readonly priority: number | undefined;
  /** What its jobs ask to work on, of the profile. */
  readonly resource: string | undefined;
}

/** The whole payload is one object. */
export function specOfPayload(facts: BatchFacts, payloadType: JobPayloadType): JobSpec {
  const { submission, rows, priority } = facts;
  return {
    priority: batchPriority(rows, priority),
    configuration: {
      ...inherited(facts),
      payload_url: submission.payload_url,
      payload_type: payloadType,
      payload_name: textOf(submission["payload_name"]),
      payload_size: sizeOf(submission["payload_size"]),
      digest_type: submission.digest_type,
      digest_value: submission.digest_value,
    },
    identifiers: identifiersOf(textOf(submission["primary_id"]), submittedLocalIds(submission)),
    metadata: metadataOf(submission, {}),
  };
}

/** One of several files that came together: an object of its own, with the form's metadata. */
export function specOfUpload(facts: BatchFacts, { name, size, type }: Upload): JobSpec {
  const { submission, rows, priority } = facts;
  const parsed = parsePayloadType(type);
  return {
    priority: batchPriority(rows, priority),
    configuration: {
      ...inherited(facts),
      payload_url: uploadUrl(name),
      payload_type: parsed.ok ? rowOfType(parsed.value).job : "file",
      payload_name: name,
      payload_size: size,
      digest_type: undefined,
      digest_value: undefined,
    },
    identifiers: null,
    metadata: metadataOf(submission, {}),
  };
}

/**
 * One row, one object. What the row says takes precedence over the form. Identifiers of the form count only for a
 * batch of one: given to every row, they would make all of them versions of one object.
 */
export function specOfRow(facts: BatchFacts, row: ManifestRow, payloadType: JobPayloadType): JobSpec {
  const { submission, rows, priority } = facts;
  const alone = rows === 1;
  const url = row.fileUrl ?? "";
  const localIds = row.localIds.length > 0 || !alone ? row.localIds : submittedLocalIds(submission);
  const primaryId = row.primaryId ?? (alone ? textOf(submission["primary_id"]) : undefined);
  return {
    priority: batchPriority(rows, priority),
    configuration: {
      ...inherited(facts),
      payload_url: url,
      payload_type: payloadType,
      payload_name: row.fileName ?? nameOfUrl(url),
      payload_size: row.fileSize,
      digest_type: row.digest?.algorithm,
      digest_value: row.digest?.value,
    },
    identifiers: identifiersOf(primaryId, localIds),
    metadata: metadataOf(submission, row),
  };
}

/** Parts of the submission that belong to the batch or to its payload; the rest goes with every job. */
const OF_THE_BATCH: ReadonlySet<string> = new Set([
  "batchID",
  "digest_type",
  "digest_value",
  "erc_what",
  "erc_when",
  "erc_where",
  "erc_who",
  "inline_manifests",
  "local_id",
  "payload_name",
  "payload_size",
  "payload_url",
  "primary_id",
  "request_digest",
  "type",
  "uploads",
]);

/** Filled in by queue-core when the job gets its number. */
const NUMBERED_LATER = {
  batch_id: undefined,
  jobID: undefined,
  working_dir: undefined,
} as const;

function inherited({ submission, resource }: BatchFacts) {
  const kept = Object.entries(submission).filter(([key]) => !OF_THE_BATCH.has(key));
  return {
    ...NUMBERED_LATER,
    ...Object.fromEntries(kept),
    resource_to_provision: resource ?? textOf(submission["resource_to_provision"]),
    profile_name: submission.profile_name,
    submitter: submission.submitter,
    response_type: submission.response_type,
    submission_mode: submission.submission_mode,
  };
}

function identifiersOf(primaryId: string | undefined, localIds: readonly string[]): Identifiers | null {
  if (primaryId === undefined && localIds.length === 0) return null;
  return { primary_id: primaryId ?? null, local_id: [...localIds] };
}

function metadataOf(submission: Submission, row: Pick<ManifestRow, "creator" | "title" | "date">): Metadata | null {
  const metadata: Metadata = {
    erc_who: row.creator ?? submission.erc_who,
    erc_what: row.title ?? submission.erc_what,
    erc_when: row.date ?? submission.erc_when,
    erc_where: undefined,
  };
  return Object.values(metadata).some((value) => value !== undefined) ? metadata : null;
}

function submittedLocalIds(submission: Submission): readonly string[] {
  const raw = submission["local_id"];
  if (typeof raw === "string") return parseLocalIds(raw);
  return Array.isArray(raw) ? raw.filter((id): id is string => typeof id === "string") : [];
}

const textOf = (raw: unknown): string | undefined => (typeof raw === "string" && raw !== "" ? raw : undefined);
const sizeOf = (raw: unknown): number | undefined =>
  typeof raw === "number" && Number.isInteger(raw) && raw >= 0 ? raw : undefined;
