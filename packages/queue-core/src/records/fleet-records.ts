/** What the fleet keeps of itself: ids, workers, callbacks, audit, tokens, orders. */
import { z } from "zod";
import { jobState } from "./deposit-records.ts";
import { text } from "./record-type.ts";

export const ExpansionSchema = z.looseObject({
  rows: z.number().int().min(0),
  created: z.number().int().min(0),
  /** SHA-256 of the frozen manifest; "" when there is none (one payload, one job). */
  digest: text,
  /** How many reports have been made. */
  reports: z.number().int().min(0).default(0),
  /** [row, number of its job]: rows that follow have the numbers that follow, up to the next step. Absent in older trees. */
  numbers: z.array(z.tuple([z.number().int().min(1), z.number().int().min(0)])).optional(),
  op: text,
});
export type Expansion = z.infer<typeof ExpansionSchema>;

export const FleetIdsSchema = z.looseObject({ batch: z.number().int().min(0), job: z.number().int().min(0) });
export type FleetIds = z.infer<typeof FleetIdsSchema>;

export const FleetEpochSchema = z.looseObject({ fleet: z.string().min(1), epoch: z.number().int().min(1) });
export type FleetEpoch = z.infer<typeof FleetEpochSchema>;

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
  /** Random, one for each start of a process: by it a process knows the node of its own earlier session. */
  instance: text.optional(),
  /** As the server granted it: so long its node can outlive it. */
  session_timeout_ms: z.number().min(0).optional(),
  /** Sweeps that hang in this process: another one does them. */
  hung: z.array(z.string()).optional(),
  /** Where others of its kind reach it, if they have to. */
  url: text.optional(),
  /** Of a worker elsewhere: the process that claims in its name. */
  via: z.looseObject({ worker: text }).optional(),
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
  /** What is said, from before it was first said: under one key there are no two bodies. */
  body: text.optional(),
});
export type CallbackRecord = z.infer<typeof CallbackSchema>;

/** The body belongs to the key: the job's next callback has another key, and another body. */
export const CallbackBodySchema = z.object({ key: text, body: text });
export type CallbackBody = z.infer<typeof CallbackBodySchema>;

/** `set`: the same for the same findings; "" for none. */
export const FsckFoundSchema = z.object({ set: text, findings: z.number().int().min(0), at: text });
export type FsckFound = z.infer<typeof FsckFoundSchema>;

/** Waits for the reporter, which has the mail server. */
export const OperatorMailSchema = z.object({ subject: text, text, at: text });
export type OperatorMail = z.infer<typeof OperatorMailSchema>;

export const AuditHeadSchema = z.object({ number: z.number().int().min(0), hash: text });
export type AuditHead = z.infer<typeof AuditHeadSchema>;

export const AuditedJobsSchema = z.object({
  count: z.number().int().min(1),
  /** SHA-256 of the list: of what `…/jobs` of an operation holds. */
  digest: text,
  /** The list itself, as steps in base 36, where it is short. */
  list: text.optional(),
});
export type AuditedJobs = z.infer<typeof AuditedJobsSchema>;

export const AuditRecordSchema = z.object({
  number: z.number().int().min(1),
  op: text,
  at: text,
  actor: text,
  /** The caller's id; absent in records of older versions, and where no API authenticated the actor. */
  caller: text.optional(),
  action: text,
  target: text,
  reason: text,
  /** Of an order for many: which jobs it was for. Its effect stands in their histories. */
  jobs: AuditedJobsSchema.optional(),
  previous: text,
});
export type AuditRecord = z.infer<typeof AuditRecordSchema>;

/** Up to where the audit stands in the archive, signed, and up to where it is removed from the tree. */
export const AuditAnchorSchema = z.looseObject({
  fleet: text,
  number: z.number().int().min(1),
  /** SHA-256 of the bytes of record `number`. */
  hash: text,
  at: text,
  /** Which key signed fleet, number, hash and at. */
  key: text,
  signature: text,
  /** Records up to here are removed. They are fewer than `number` while the removal is in progress. */
  removed: z.number().int().min(0),
});
export type AuditAnchor = z.infer<typeof AuditAnchorSchema>;

/** A bearer token as it is kept: enough to check one, nothing to make one from. Roles are the affair of @sluice/access. */
export const TokenSchema = z.object({
  id: z.string().regex(/^[a-z0-9]{12}$/),
  /** Whose it is, for people. */
  name: z.string().min(1).max(200),
  role: text,
  /** Profiles' names; `*` stands for all of them. */
  /** None: it is for tenants of the job queue alone. */
  collections: z.array(z.string().min(1).max(128)),
  /** Tenants of the job queue; `*` stands for all. Absent: all for staff who are bound to no collections, none for others. */
  tenants: z.array(z.string().min(1).max(64)).optional(),
  /** Stages whose jobs it may work through the stage API; `*` stands for all. Absent: none. */
  stages: z.array(z.string().min(1).max(64)).optional(),
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
  /** The id of the caller who ordered it, for the audit. */
  caller: text.optional(),
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

/** In the entry of a batch: who claimed it last. The status has that version still if nothing was written since. */
export const BatchClaimSchema = z.looseObject({ worker: z.string(), token: z.number().int().min(0) });

export const ChoreSchema = z.object({
  /** When it was last done, in ms of the server's clock. */
  done: z.number().int().min(0),
  /** It never was: `done` is since when it is expected. */
  expected: z.boolean().optional(),
});
export type ChoreRecord = z.infer<typeof ChoreSchema>;

/** A program with CDL's library has a stage of this tree. */
export const BesideSchema = z.looseObject({
  stage: text,
  by: text,
  since: text,
  why: text,
  /** Numbers that were given before: its own are above them, and ours far above those. */
  numbers: z.object({ batch: z.number().int().min(0), job: z.number().int().min(0) }),
});
export type BesideRecord = z.infer<typeof BesideSchema>;

export const KeySchema = z.object({ batch: text, request_digest: text });
export type KeyRecord = z.infer<typeof KeySchema>;
