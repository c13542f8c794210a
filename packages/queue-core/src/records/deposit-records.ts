/** What a deposit is: the nodes of jobs and batches whose form the seeds give. */
import { z } from "zod";
import { readBatchState, readJobState } from "../states.ts";
import { optionalText, text } from "./record-type.ts";

export const jobState = z.string().transform((raw, ctx) => {
  const state = readJobState(raw);
  if (state === null) ctx.addIssue({ code: "custom", message: `no job state: ${raw}` });
  return state ?? z.NEVER;
});
const batchState = z.string().transform((raw, ctx) => {
  const state = readBatchState(raw);
  if (state === null) ctx.addIssue({ code: "custom", message: `no batch state: ${raw}` });
  return state ?? z.NEVER;
});

/** Seeds and old trees say last_modification_date. */
const withLastModified = (raw: unknown): unknown =>
  typeof raw === "object" && raw !== null && "last_modification_date" in raw && !("last_modified" in raw)
    ? { ...raw, last_modified: raw.last_modification_date }
    : raw;

export const JobStatusSchema = z.preprocess(
  withLastModified,
  z.object({
    status: jobState,
    last_modified: z.string().default(""),
    last_successful_status: z
      .string()
      .nullish()
      .transform((raw) => (raw == null ? null : readJobState(raw))),
    retry_count: z.coerce.number().int().min(0).default(0),
    message: z
      .string()
      .nullish()
      .transform((raw) => raw ?? ""),
  }),
);
export type JobStatus = z.infer<typeof JobStatusSchema>;

export const BatchStatusSchema = z.preprocess(
  withLastModified,
  z.object({
    status: batchState,
    last_modified: z.string().default(""),
    message: z
      .string()
      .nullish()
      .transform((raw) => raw ?? ""),
  }),
);
export type BatchStatus = z.infer<typeof BatchStatusSchema>;

/** The tree's epoch in which the batch was made. Absent: before there were epochs, and of batches that were imported. */
const birthEpoch = z.number().int().min(1).optional();

/** Both name sets are read: the seeds' and those that CDL's ingest service stores. */
const ALIASES: Readonly<Record<string, string>> = {
  profile: "profile_name",
  submissionMode: "submission_mode",
  digestType: "digest_type",
  digestValue: "digest_value",
  responseForm: "response_type",
  title: "erc_what",
  creator: "erc_who",
  date: "erc_when",
};
const withOurNames = (raw: unknown): unknown => {
  if (typeof raw !== "object" || raw === null) return raw;
  const known: Record<string, unknown> = { ...raw };
  for (const [theirs, ours] of Object.entries(ALIASES)) {
    if (known[ours] === undefined && known[theirs] !== undefined) known[ours] = known[theirs];
  }
  return known;
};

export const SubmissionSchema = z.preprocess(
  withOurNames,
  z.looseObject({
    profile_name: text,
    submitter: text.default(""),
    payload_url: text.default(""),
    erc_what: optionalText,
    erc_who: optionalText,
    erc_when: optionalText,
    erc_where: optionalText,
    /** file, container, object-manifest, batch-manifest, container-batch-manifest, single-file-batch-manifest. */
    type: text.default("file"),
    submission_mode: text.default("add"),
    batchID: optionalText,
    digest_type: optionalText,
    digest_value: optionalText,
    notification: optionalText,
    response_type: optionalText,
    /** SHA-256 of what was asked for: the same key with other content is refused. */
    request_digest: optionalText,
    /** The W3C trace in which it was submitted. */
    traceparent: text.optional(),
    epoch: birthEpoch,
  }),
);
export type Submission = z.infer<typeof SubmissionSchema>;

export const JobConfigurationSchema = z.preprocess(
  withOurNames,
  z.looseObject({
    batch_id: optionalText,
    profile_name: text,
    submitter: text.default(""),
    payload_url: text.default(""),
    payload_type: text.default("file"),
    response_type: optionalText,
    submission_mode: text.default("add"),
    working_dir: optionalText,
    jobID: optionalText,
    digest_type: optionalText,
    digest_value: optionalText,
    /** Size as the manifest gives it, in bytes. */
    payload_size: z.coerce
      .number()
      .int()
      .min(0)
      .nullish()
      .transform((raw) => raw ?? undefined),
    payload_name: optionalText,
    resource_to_provision: optionalText,
    /** The W3C trace of this job: every attempt belongs to it. */
    traceparent: text.optional(),
    epoch: birthEpoch,
  }),
);
export type JobConfiguration = z.infer<typeof JobConfigurationSchema>;

const localIds = z
  .union([z.array(z.string()), z.string()])
  .nullish()
  .transform((raw) => (raw == null || raw === "" ? [] : typeof raw === "string" ? [raw] : raw));
export const IdentifiersSchema = z.preprocess(
  (raw) =>
    typeof raw === "object" && raw !== null && "primary" in raw && !("primary_id" in raw)
      ? { ...raw, primary_id: raw.primary }
      : raw,
  z.looseObject({
    primary_id: z
      .string()
      .nullish()
      .transform((raw) => (raw == null || raw === "" ? null : raw)),
    local_id: localIds,
  }),
);
export type Identifiers = z.infer<typeof IdentifiersSchema>;

export const MetadataSchema = z.looseObject({
  erc_who: optionalText,
  erc_what: optionalText,
  erc_when: optionalText,
  erc_where: optionalText,
});
export type Metadata = z.infer<typeof MetadataSchema>;

export const InventorySchema = z.looseObject({
  manifest_url: text,
  mode: text.default(""),
  /** The version that was stored: one manifest of Merritt's storage service is about all versions. */
  version: z.number().int().min(1).optional(),
});
export type Inventory = z.infer<typeof InventorySchema>;

export const StatusReportSchema = z.object({
  last_modified: text.default(""),
  failed_jobs: z.array(z.string()).default([]),
  successful_jobs: z.array(z.string()).default([]),
  /** Present instead of the lists when they are too long for a node: the lists are in /fleet/reports. */
  counts: z.object({ report: z.number().int(), failed: z.number().int(), successful: z.number().int() }).optional(),
});
export type StatusReport = z.infer<typeof StatusReportSchema>;

export const LockSchema = z.object({
  owner: text,
  stage: text,
  /** A random id of this one claim: how a claim whose answer was lost recognises itself. */
  claim: text,
  since: text,
});
export type Lock = z.infer<typeof LockSchema>;

export const HoldSchema = z.object({
  by: text.default(""),
  since: text.default(""),
  why: text.default(""),
  until: optionalText,
});
export type Hold = z.infer<typeof HoldSchema>;
