/**
 * The data of every znode that holds some: schema, reader and printer in one place. docs/znodes.md is made from here.
 *
 * Reading is tolerant: states in any case, both names of a key, unknown keys kept where CDL's libraries put their own.
 * Writing is exact: the keys of the table, in this order.
 */
import { z } from "zod";
import { parseBatchId } from "./ids.ts";
import { type JobState, readBatchState, readJobState } from "./states.ts";

/** A reader's answer: a broken node is a fact about the tree, not an exception. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export interface RecordType<T> {
  readonly name: string;
  readonly decode: (data: Buffer) => Parsed<T>;
  readonly encode: (value: T) => Buffer;
}

const jobState = z.string().transform((raw, ctx) => {
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

const text = z.string();
const optionalText = z
  .string()
  .nullish()
  .transform((raw) => raw ?? undefined);

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

export const InventorySchema = z.looseObject({ manifest_url: text, mode: text.default("") });
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

/** What an event in a job's short history was. */
export const EVENT_KINDS = [
  "create",
  "done",
  "park",
  "fail",
  "retry",
  "snooze",
  "handback",
  "quarantine",
  "hold",
  "release",
  "resume",
  "op-fail",
  "delete",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/**
 * [op, unix seconds, kind, state it was in, by whom, detail?, seconds since the claim?]: twelve fit into 1 KB. Kinds and
 * states of a newer version are kept as they are: `knownEvent` tells what this one understands.
 */
export const JobEventSchema = z.tuple([text, z.number().int(), text, text, text]).rest(text);
export type JobEvent = z.infer<typeof JobEventSchema>;

export interface KnownEvent {
  readonly op: string;
  readonly atSeconds: number;
  readonly kind: EventKind;
  readonly state: JobState;
  readonly by: string;
  readonly detail: string | undefined;
  readonly seconds: string | undefined;
}

/** null for an event that only a newer version understands. */
export function knownEvent([op, atSeconds, word, rawState, by, detail, seconds]: JobEvent): KnownEvent | null {
  const kind = EVENT_KINDS.find((known) => known === word);
  const state = readJobState(rawState);
  return kind === undefined || state === null ? null : { op, atSeconds, kind, state, by, detail, seconds };
}

/** Loose, like all that is rewritten from what was read: an old and a new version work on one tree (docs/upgrading.md). */
export const FleetJobSchema = z.looseObject({
  /** Claims of the present stage; a snooze and a hand-back take theirs back. */
  attempts: z.number().int().min(0),
  /** Not to be claimed before this many ms have passed since the node's mtime, by the server's clock. */
  not_before: z.number().int().min(0).optional(),
  /** Why it waits, for people. */
  why: text.optional(),
  /** The claim token whose files count: JID/.claim-TOKEN. */
  files: z.number().int().min(0).optional(),
  /** The token of the last claim, whatever became of it: the next attempt's trace links to that one's. */
  token: z.number().int().min(0).optional(),
  /** [unix seconds, worker] of the claim under way; left behind by a worker that died with the job in hand. */
  claimed: z.tuple([z.number().int(), text]).optional(),
  /** [unix seconds, what became of it, detail]: the callback about the failure that the job stands at. */
  called: z.tuple([z.number().int(), text]).rest(text).optional(),
  events: z.array(JobEventSchema),
});
export type FleetJob = z.infer<typeof FleetJobSchema>;

export const ExpansionSchema = z.looseObject({
  rows: z.number().int().min(0),
  created: z.number().int().min(0),
  /** SHA-256 of the frozen manifest; "" when there is none (one payload, one job). */
  digest: text,
  /** How many reports have been made. */
  reports: z.number().int().min(0).default(0),
  op: text,
});
export type Expansion = z.infer<typeof ExpansionSchema>;

export const FleetIdsSchema = z.looseObject({ batch: z.number().int().min(0), job: z.number().int().min(0) });
export type FleetIds = z.infer<typeof FleetIdsSchema>;

const WorkerProgressSchema = z.object({
  doneBytes: z.number().min(0),
  totalBytes: z.number().min(0).nullable(),
  note: z.string().optional(),
});
export type WorkerProgress = z.infer<typeof WorkerProgressSchema>;

export const WorkerSchema = z.looseObject({
  host: text,
  pid: z.number().int(),
  version: text,
  since: text,
  /** Jobs in hand. */
  jobs: z.array(z.string()).default([]),
  concurrency: z.number().int().default(1),
  cpu_seconds: z.number().default(0),
  memory_bytes: z.number().default(0),
  draining: z.boolean().default(false),
  /** By job in hand; only for people, so what cannot be read is left out. */
  progress: z.record(z.string(), WorkerProgressSchema).optional().catch(undefined),
});
export type WorkerRecord = z.infer<typeof WorkerSchema>;

export const CallbackSchema = z.object({
  job: text,
  batch: text,
  outcome: z.literal("FAILED"),
  retry: z.number().int().min(0),
  message: text,
  at: text,
});
export type CallbackRecord = z.infer<typeof CallbackSchema>;

export const AuditHeadSchema = z.object({ number: z.number().int().min(0), hash: text });
export type AuditHead = z.infer<typeof AuditHeadSchema>;

export const AuditRecordSchema = z.object({
  number: z.number().int().min(1),
  op: text,
  at: text,
  actor: text,
  action: text,
  target: text,
  reason: text,
  previous: text,
});
export type AuditRecord = z.infer<typeof AuditRecordSchema>;

/** A bearer token as it is kept: enough to check one, nothing to make one from. Roles are the affair of @sluice/access. */
export const TokenSchema = z.object({
  id: z.string().regex(/^[a-z0-9]{12}$/),
  /** Whose it is, for people. */
  name: z.string().min(1).max(200),
  role: text,
  /** Profiles' names; `*` stands for all of them. */
  collections: z.array(z.string().min(1).max(128)).min(1),
  /** SHA-256 of the secret, in hex. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  created: text,
  created_by: text,
  /** RFC 3339: every token ends some day. */
  expires: z.iso.datetime({ offset: true }),
});
export type KeptToken = z.infer<typeof TokenSchema>;

export const OPERATION_STATES = ["running", "done", "stopped", "failed"] as const;

/** One order for many jobs, and how far it is. */
export const OperationSchema = z.object({
  action: text,
  at: jobState.optional(),
  priority: z.number().int().min(0).optional(),
  by: text,
  /** Who ordered it is bound to these; absent = to none. */
  collections: z.array(z.string()).optional(),
  reason: text,
  state: z.enum(OPERATION_STATES),
  started: text,
  ended: text.optional(),
  total: z.number().int().min(0),
  /** How many of the jobs have had their turn. */
  next: z.number().int().min(0),
  applied: z.number().int().min(0),
  refused: z.array(z.object({ why: text, count: z.number().int(), example: text })),
  /** How often somebody has taken it up. */
  runs: z.number().int().min(0),
});
export type OperationRecord = z.infer<typeof OperationSchema>;

export const KeySchema = z.object({ batch: text, request_digest: text });
export type KeyRecord = z.infer<typeof KeySchema>;

/** Keys with the value undefined are not written; the order is the schema's, unknown keys follow. */
function jsonRecord<T>(name: string, schema: z.ZodType<T>): RecordType<T> {
  return {
    name,
    decode(data) {
      const raw = parseJson(data);
      if (raw === undefined) return { ok: false, problem: `${name}: not JSON` };
      const parsed = schema.safeParse(raw);
      if (parsed.success) return { ok: true, value: parsed.data };
      const first = parsed.error.issues[0];
      return { ok: false, problem: `${name}.${first?.path.join(".") ?? ""}: ${first?.message ?? "invalid"}` };
    },
    encode: (value) => Buffer.from(JSON.stringify(value)),
  };
}

function parseJson(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

function textRecord<T>(name: string, read: (raw: string) => T | null, print: (value: T) => string): RecordType<T> {
  return {
    name,
    decode(data) {
      const value = read(data.toString("utf8").trim());
      return value === null
        ? { ok: false, problem: `${name}: ${JSON.stringify(data.toString("utf8"))}` }
        : { ok: true, value };
    },
    encode: (value) => Buffer.from(print(value)),
  };
}

/** -1 is what CDL's estimator writes for an unknown size; it reads as 0, which is the seeds' word for it. */
const readCount = (raw: string): number | null => (/^-?\d{1,15}$/.test(raw) ? Math.max(0, Number(raw)) : null);
const count = (name: string): RecordType<number> => textRecord(name, readCount, (value) => value.toFixed(0));

/** Rising numbers as steps from each to the next, base 36: a hundred thousand neighbours take 200 KB. */
function readNumbers(raw: string): readonly number[] | null {
  const numbers: number[] = [];
  let last = 0;
  for (const word of raw === "" ? [] : raw.split(",")) {
    if (!/^[0-9a-z]{1,7}$/.test(word)) return null;
    last += Number.parseInt(word, 36);
    numbers.push(last);
  }
  return numbers;
}
const printNumbers = (numbers: readonly number[]): string =>
  numbers.map((number, i) => (number - (numbers[i - 1] ?? 0)).toString(36)).join(",");

/** Exactly the keys of the wire format, in its order, whatever else a tolerant reader let through. */
function exactJobStatus(s: JobStatus): JobStatus {
  const { status, last_modified, last_successful_status, retry_count, message } = s;
  return { status, last_modified, last_successful_status, retry_count, message };
}
const jobStatus = jsonRecord("job status", JobStatusSchema);

export const records = {
  jobStatus: { ...jobStatus, encode: (s: JobStatus) => jobStatus.encode(exactJobStatus(s)) },
  batchStatus: jsonRecord("batch status", BatchStatusSchema),
  submission: jsonRecord("submission", SubmissionSchema),
  jobConfiguration: jsonRecord("configuration", JobConfigurationSchema),
  identifiers: jsonRecord("identifiers", IdentifiersSchema),
  metadata: jsonRecord("metadata", MetadataSchema),
  inventory: jsonRecord("inventory", InventorySchema),
  statusReport: jsonRecord("status-report", StatusReportSchema),
  lock: jsonRecord("lock", LockSchema),
  hold: jsonRecord("hold", HoldSchema),
  fleetJob: jsonRecord("fleet job", FleetJobSchema),
  expansion: jsonRecord("expansion", ExpansionSchema),
  fleetIds: jsonRecord("ids", FleetIdsSchema),
  worker: jsonRecord("worker", WorkerSchema),
  callback: jsonRecord("callback", CallbackSchema),
  auditHead: jsonRecord("audit head", AuditHeadSchema),
  auditRecord: jsonRecord("audit record", AuditRecordSchema),
  key: jsonRecord("key", KeySchema),
  token: jsonRecord("token", TokenSchema),
  operation: jsonRecord("operation", OperationSchema),
  jobNumbers: textRecord("job numbers", readNumbers, printNumbers),
  priority: count("priority"),
  spaceNeeded: count("space_needed"),
  counter: count("counter"),
  layout: count("layout"),
  bid: textRecord("bid", parseBatchId, (value) => value),
  fleetId: textRecord(
    "fleet id",
    (raw) => (raw === "" ? null : raw),
    (value) => value,
  ),
} as const;

export const EMPTY = Buffer.alloc(0);
