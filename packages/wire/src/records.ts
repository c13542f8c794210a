/** Audit, tokens, tree, mails, and the model itself. */
import { PERMISSIONS, type Permission, ROLES } from "@sluice/access";
import { z } from "zod";
import { batchState, jobState, reason, stage, time } from "./common.ts";

export const AuditView = z.object({
  number: z.number().int(),
  at: time.nullable(),
  actor: z.string().describe("the caller's name"),
  caller: z
    .string()
    .nullable()
    .describe("the caller's id; null where no API authenticated them, and before ids were kept"),
  action: z.string(),
  target: z.string(),
  reason: z.string(),
  jobs: z.number().int().nullable().describe("of an order for many: for how many it was"),
  hash: z.string(),
});
export type AuditView = z.infer<typeof AuditView>;

export const AuditVerdict = z.object({
  records: z.number().int().describe("all of them, archived ones too"),
  archived: z
    .number()
    .int()
    .default(0)
    .describe("how many of them were checked in the archive: they have left ZooKeeper"),
  anchors: z.number().int().default(0).describe("signed anchors that are part of the chain"),
  signatures: z
    .enum(["checked", "not-checked"])
    .default("not-checked")
    .describe("not-checked: AUDIT_PUBLIC_KEYS_FILE is not set"),
  left: z
    .object({ records: z.number().int(), first: z.number().int(), last: z.number().int() })
    .nullable()
    .default(null)
    .describe("records in the archive that a restore of the tree took out of the chain"),
  whole: z.boolean(),
  problem: z.string().nullable().describe("what is wrong with the chain of hashes, or with a signature"),
});
export type AuditVerdict = z.infer<typeof AuditVerdict>;

export const EndingTokenView = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  expires: z.string(),
  expired: z.boolean(),
  place: z.enum(["tree", "file"]).describe("file: AUTH_TOKENS_FILE of the admin"),
});
export type EndingTokenView = z.infer<typeof EndingTokenView>;

export const TokenView = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  collections: z.array(z.string()),
  tenants: z.array(z.string()).optional().describe("of the job queue; not said: by role and collections"),
  stages: z.array(z.string()).optional().describe("whose jobs it may work; not said: none"),
  created: z.string(),
  created_by: z.string(),
  expires: z.string(),
  expired: z.boolean(),
});
export type TokenView = z.infer<typeof TokenView>;

export const TokenRequest = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    role: z.enum(ROLES),
    collections: z
      .array(z.string().min(1).max(128), "name the collections, or `*` for all of them")
      .describe("`*` for all of them; none for a token that is for the job queue or a stage alone"),
    tenants: z
      .array(z.string().regex(/^([a-z0-9-]{1,64}|\*)$/, "a tenant's name, or * for all"))
      .optional()
      .describe("of the job queue; without: all for staff of all collections, none for others"),
    stages: z
      .array(z.union([stage, z.literal("*")], "a stage's name, or * for all"))
      .optional()
      .describe("of a worker: the stages whose jobs it may work"),
    expires_in_days: z.number().int().min(1).max(3_650).default(90),
    reason,
  })
  .refine(({ collections, tenants = [], stages = [] }) => collections.length + tenants.length + stages.length > 0, {
    path: ["collections"],
    error: "name the collections, or `*` for all of them; only a token for the job queue or for a stage has none",
  })
  .refine(({ role, stages = [] }) => (role === "worker") === stages.length > 0, {
    path: ["stages"],
    error: "a worker has stages, and nobody else has",
  });
export type TokenRequest = z.infer<typeof TokenRequest>;

export const TokenMade = TokenView.extend({ token: z.string().describe("shown this once, kept nowhere") });

export const Finding = z.object({
  id: z.string().describe("names the finding for its repair; changes when the nodes do"),
  rule: z.string(),
  severity: z.enum(["warn", "fail"]),
  path: z.string(),
  what: z.string(),
  repair: z.string().nullable().describe("what a repair would do; null: nothing can be done by itself"),
});
export type Finding = z.infer<typeof Finding>;

export const FsckReport = z.object({
  started: time,
  took_ms: z.number(),
  jobs: z.number().int(),
  batches: z.number().int(),
  rules: z.array(z.object({ rule: z.string(), says: z.string(), findings: z.number().int() })),
  findings: z.array(Finding),
});
export type FsckReport = z.infer<typeof FsckReport>;

export const RepairRequest = z.strictObject({ reason, findings: z.array(z.string()).min(1).optional() });
export const RepairReport = z.object({
  repaired: z.array(z.object({ path: z.string(), what: z.string() })),
  left: z.array(z.object({ path: z.string(), why: z.string() })),
});
export type RepairReport = z.infer<typeof RepairReport>;

export const NodeView = z.object({
  path: z.string(),
  data: z.string(),
  encoding: z.enum(["json", "text", "base64", "empty"]),
  version: z.number().int(),
  created: time,
  modified: time,
  ephemeral: z.boolean(),
  children_count: z.number().int(),
  children: z.array(z.string()),
  next_cursor: z.string().nullable(),
});
export type NodeView = z.infer<typeof NodeView>;

export const MailView = z.object({
  id: z.string(),
  subject: z.string(),
  to: z.array(z.string()),
  at: time,
  text: z.string(),
  attachments: z.array(z.object({ name: z.string(), bytes: z.number().int() })),
});
export type MailView = z.infer<typeof MailView>;

const permissions = Object.keys(PERMISSIONS) as [Permission, ...Permission[]];

export const Me = z.object({
  name: z.string(),
  role: z.enum(ROLES),
  collections: z.array(z.string()).nullable().describe("null: all of them"),
  tenants: z.array(z.string()).nullable().describe("of the job queue; null: all of them"),
  permissions: z.array(z.enum(permissions)),
});
export type Me = z.infer<typeof Me>;

/** What an action does, for whoever is about to order it. */
const actionWords = z.object({ action: z.string(), says: z.string() });

/** The transition tables as data: console and CLI offer what stands here, and nothing else. */
export const Model = z.object({
  version: z.string(),
  pipeline: z.array(jobState),
  job_states: z.array(
    z.object({
      state: jobState,
      stage: stage.nullable(),
      says: z.string(),
      actions: z.array(z.string()),
      live: z.boolean(),
      merritts: z.boolean().describe("a state of Merritt's own: no service of this fleet leads to it or works on it"),
    }),
  ),
  batch_states: z.array(z.object({ state: batchState, says: z.string(), actions: z.array(z.string()) })),
  job_actions: z.array(actionWords),
  batch_actions: z.array(actionWords),
  errors: z.array(z.object({ code: z.string(), says: z.string(), remedy: z.string(), resumable: z.boolean() })),
  schedules: z.boolean().describe("deposits for later are shown: the admin knows an intake"),
  development: z.boolean().describe("mails go to an outbox that can be read here"),
});
export type Model = z.infer<typeof Model>;
