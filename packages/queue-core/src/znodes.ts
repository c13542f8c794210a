/** One row per kind of node: what it holds, whether it is ephemeral, who writes it. docs/znodes.md is made from here. */
import { z } from "zod";
import {
  AuditAnchorSchema,
  AuditHeadSchema,
  AuditRecordSchema,
  BatchStatusSchema,
  BesideSchema,
  CallbackBodySchema,
  CallbackSchema,
  BatchClaimSchema,
  ChoreSchema,
  ExpansionSchema,
  FleetEpochSchema,
  FsckFoundSchema,
  FleetIdsSchema,
  FleetJobSchema,
  HoldSchema,
  IdentifiersSchema,
  InventorySchema,
  JobConfigurationSchema,
  JobStatusSchema,
  KeySchema,
  LockSchema,
  MetadataSchema,
  OperationSchema,
  OperatorMailSchema,
  StatusReportSchema,
  SubmissionSchema,
  TokenSchema,
  WorkerSchema,
} from "./records.ts";

export interface ZnodeRow {
  readonly path: string;
  /** A schema, or the form of plain text; null = the node is empty. */
  readonly data: z.ZodType | string | null;
  readonly ephemeral: boolean;
  readonly writtenBy: string;
}

const row = (path: string, data: z.ZodType | string | null, writtenBy: string, ephemeral = false): ZnodeRow => ({
  path,
  data,
  ephemeral,
  writtenBy,
});

export const ZNODES: readonly ZnodeRow[] = [
  row("/batches/BID/submission", SubmissionSchema, "batch-intake, once"),
  row("/batches/BID/status", BatchStatusSchema, "every move of the batch"),
  row("/batches/BID/status-report", StatusReportSchema, "reporter, with its verdict"),
  row("/batches/BID/states/BUCKET/JID", null, "the moves that end a job or bring it back"),
  row("/batches/BID/lock", LockSchema, "the worker that claims the batch", true),
  row("/batch-uuids/UUID", "BID", "batch-intake, once; moves to /fleet/keys at clean-up"),
  row("/jobs/JID/bid", "BID", "batch-intake, once"),
  row("/jobs/JID/configuration", JobConfigurationSchema, "batch-intake, once"),
  row("/jobs/JID/priority", "0 to 99", "batch-intake; estimator; operators"),
  row("/jobs/JID/space_needed", "bytes, 0 = unknown", "batch-intake; estimator; downloader"),
  row("/jobs/JID/identifiers", IdentifiersSchema, "batch-intake; processor"),
  row("/jobs/JID/metadata", MetadataSchema, "batch-intake; processor"),
  row("/jobs/JID/inventory", InventorySchema, "processor"),
  row("/jobs/JID/status", JobStatusSchema, "every claim (same bytes) and every move of the job"),
  row("/jobs/JID/lock", LockSchema, "the worker that claims the job", true),
  row("/jobs/states/STATE/PP-JID", null, "every move of the job; changes of priority"),
  row("/locks/queue/ingest", HoldSchema, "operators: pause of the queue"),
  row("/locks/collections/PROFILE", HoldSchema, "operators: hold of a collection"),
  row("/locks/storage/ARK", LockSchema, "processor", true),
  row("/locks/inventory/ARK", LockSchema, "recorder", true),
  row("/locks/localid/LOCALID_OWNER", LockSchema, "processor", true),
  row("/fleet/id", "a random id of this tree's history", "`sluice init`; a restore writes a new one"),
  row("/fleet/epoch", FleetEpochSchema, "`sluice init`; every restore makes the next epoch of the same fleet"),
  row(
    "/fleet/restoring",
    "which snapshot",
    "a restore, from its first write to its last: nobody else starts meanwhile",
  ),
  row("/fleet/importing", "from where", "an import, from its first write to its last: nobody else starts meanwhile"),
  row(
    "/fleet/beside",
    BesideSchema,
    "`sluice beside`: while a program with CDL's library has a stage; no snapshot keeps it",
  ),
  row("/fleet/layout", "the number of this layout", "`sluice init`; programs that do not know it refuse it"),
  row("/fleet/ids", FleetIdsSchema, "batch-intake, when it reserves a block of numbers"),
  row(
    "/fleet/jobs/JID",
    FleetJobSchema,
    "every claim, move, snooze and operator's action; notifier, after the callback about a failure",
  ),
  row(
    "/fleet/batches/STATE/BID",
    BatchClaimSchema,
    "every move of the batch, empty; every claim, which the version counts",
  ),
  row("/fleet/batches/due/BID", null, "the worker that ends the last job; taken away by the reporter"),
  row("/fleet/clean-ups/BID", null, "operators: a clean-up before its time; taken away by the reporter"),
  row("/fleet/job-uuids/UUID", "JID", "an import, for jobs whose UUIDs do not tell where they are"),
  row("/fleet/expansion/BID", ExpansionSchema, "batch-intake with every chunk; reporter with every report"),
  row("/fleet/holds", "a counter", "every hold, release, pause and resume"),
  row("/fleet/space", "a counter", "provisioner, with every admission"),
  row("/fleet/paused/STAGE", HoldSchema, "operators"),
  row("/fleet/drain/WORKER", HoldSchema, "operators"),
  row("/fleet/workers/STAGE/ID", WorkerSchema, "the worker itself", true),
  row("/fleet/callbacks/JID.RETRY", CallbackSchema, "every move to Failed; taken away by the notifier"),
  row(
    "/fleet/callback-bodies/JID",
    CallbackBodySchema,
    "notifier, before it first calls back; goes when the job leaves Notify",
  ),
  row("/fleet/chores/NAME", ChoreSchema, "reporter and job-runner, whenever they have done it"),
  row("/fleet/fsck-found", FsckFoundSchema, "job-runner, when a report of fleet/fsck-report finds something else"),
  row("/fleet/queued-mails/BID", null, "batch-intake, when it starts the batch; taken away by the reporter"),
  row("/fleet/operator-mails/ID", OperatorMailSchema, "job-runner, with fsck-found; taken away by the reporter"),
  row("/fleet/keys/DAY/UUID", KeySchema, "clean-up; kept 30 days"),
  row("/fleet/reports/BID/N/CHUNK", StatusReportSchema, "reporter, for reports of more than 3,000 jobs"),
  row("/fleet/operations/records/ID", OperationSchema, "operators: one order for many jobs; admin, as it goes on"),
  row("/fleet/operations/records/ID/jobs", "numbers of the jobs, as steps in base 36", "operators, once"),
  row("/fleet/operations/due/ID", null, "operators; taken away by the admin when it is over"),
  row("/fleet/tokens/ID", TokenSchema, "admins; taken away when revoked"),
  row("/fleet/audit/head", AuditHeadSchema, "every operator's action"),
  row("/fleet/audit/anchor", AuditAnchorSchema, "reporter, when it archives old records and removes them"),
  row(
    "/fleet/audit/records/NUMBER",
    AuditRecordSchema,
    "every operator's action, once; removed by the reporter when the archive has it",
  ),
];

export function describeZnodes(): string {
  return [
    "<!-- Generated from packages/queue-core/src/znodes.ts by `npm run docs`. Do not edit. -->",
    "",
    "# Znodes",
    "",
    "Paths outside `/fleet` and their bytes are those of CDL's own client libraries. What is ours stands under `/fleet`.",
    "",
    "| Path | Data | Ephemeral | Written by |",
    "| --- | --- | --- | --- |",
    ...ZNODES.map(
      ({ path, data, ephemeral, writtenBy }) =>
        `| \`${path}\` | ${shape(data)} | ${ephemeral ? "yes" : ""} | ${writtenBy} |`,
    ),
    "",
  ].join("\n");
}

function shape(data: ZnodeRow["data"]): string {
  if (data === null) return "empty";
  if (typeof data === "string") return data;
  const json = z.toJSONSchema(data, { io: "input", unrepresentable: "any" });
  const keys = Object.keys(json.properties ?? {});
  return `JSON {${keys.join(", ")}${json.additionalProperties !== undefined && json.additionalProperties !== false ? ", …" : ""}}`;
}
