/**
 * The data of every znode that holds some: schema, reader and printer. docs/znodes.md is made from here.
 *
 * Reading is tolerant: states in any case, both names of a key, unknown keys kept where CDL's libraries put their own.
 * Writing is exact: the keys of the table, in this order.
 */
import { parseBatchId, parseJobId } from "./ids.ts";
import {
  JobStatusSchema,
  BatchStatusSchema,
  SubmissionSchema,
  JobConfigurationSchema,
  IdentifiersSchema,
  MetadataSchema,
  InventorySchema,
  StatusReportSchema,
  LockSchema,
  HoldSchema,
  type Identifiers,
  type JobStatus,
} from "./records/deposit-records.ts";
import {
  ExpansionSchema,
  FleetEpochSchema,
  FleetIdsSchema,
  WorkerSchema,
  CallbackSchema,
  CallbackBodySchema,
  BatchClaimSchema,
  ChoreSchema,
  FsckFoundSchema,
  OperatorMailSchema,
  AuditAnchorSchema,
  AuditHeadSchema,
  AuditRecordSchema,
  TokenSchema,
  OperationSchema,
  KeySchema,
  BesideSchema,
} from "./records/fleet-records.ts";
import { FleetJobSchema } from "./records/job-history.ts";
import { count, jsonRecord, printNumbers, readNumbers, textRecord } from "./records/record-type.ts";

export {
  type BatchStatus,
  BatchStatusSchema,
  type Hold,
  HoldSchema,
  type Identifiers,
  IdentifiersSchema,
  type Inventory,
  InventorySchema,
  type JobConfiguration,
  JobConfigurationSchema,
  type JobStatus,
  JobStatusSchema,
  type Lock,
  LockSchema,
  type Metadata,
  MetadataSchema,
  type StatusReport,
  StatusReportSchema,
  type Submission,
  SubmissionSchema,
} from "./records/deposit-records.ts";
export {
  type AuditAnchor,
  AuditAnchorSchema,
  type AuditHead,
  AuditHeadSchema,
  type AuditedJobs,
  type AuditRecord,
  AuditRecordSchema,
  type BesideRecord,
  BesideSchema,
  type CallbackBody,
  CallbackBodySchema,
  type CallbackRecord,
  CallbackSchema,
  type ChoreRecord,
  BatchClaimSchema,
  ChoreSchema,
  type Expansion,
  ExpansionSchema,
  type FleetEpoch,
  type FleetIds,
  FleetEpochSchema,
  FleetIdsSchema,
  type FsckFound,
  FsckFoundSchema,
  type KeptToken,
  type KeyRecord,
  KeySchema,
  OPERATION_STATES,
  type OperationRecord,
  OperationSchema,
  type OperatorMail,
  OperatorMailSchema,
  TokenSchema,
  type WorkerProgress,
  type WorkerRecord,
  WorkerSchema,
} from "./records/fleet-records.ts";
export {
  EVENT_KINDS,
  type EventKind,
  type FleetJob,
  FleetJobSchema,
  type JobEvent,
  knownEvent,
  type KnownEvent,
} from "./records/job-history.ts";
export type { Parsed, RecordType } from "./records/record-type.ts";

/** Exactly the keys of the wire format, in its order, whatever else a tolerant reader let through. */
function exactJobStatus(s: JobStatus): JobStatus {
  const { status, last_modified, last_successful_status, retry_count, message } = s;
  return { status, last_modified, last_successful_status, retry_count, message };
}
const jobStatus = jsonRecord("job status", JobStatusSchema);

/** CDL's Java breaks on a null there; in their own trees no ARK is an empty text. */
const theirIdentifiers = (ids: Identifiers): object => ({ ...ids, primary_id: ids.primary_id ?? "" });
const identifiers = jsonRecord("identifiers", IdentifiersSchema);

export const records = {
  jobStatus: { ...jobStatus, encode: (s: JobStatus) => jobStatus.encode(exactJobStatus(s)) },
  batchStatus: jsonRecord("batch status", BatchStatusSchema),
  submission: jsonRecord("submission", SubmissionSchema),
  jobConfiguration: jsonRecord("configuration", JobConfigurationSchema),
  identifiers: { ...identifiers, encode: (ids: Identifiers) => Buffer.from(JSON.stringify(theirIdentifiers(ids))) },
  metadata: jsonRecord("metadata", MetadataSchema),
  inventory: jsonRecord("inventory", InventorySchema),
  statusReport: jsonRecord("status-report", StatusReportSchema),
  lock: jsonRecord("lock", LockSchema),
  hold: jsonRecord("hold", HoldSchema),
  fleetJob: jsonRecord("fleet job", FleetJobSchema),
  expansion: jsonRecord("expansion", ExpansionSchema),
  fleetIds: jsonRecord("ids", FleetIdsSchema),
  fleetEpoch: jsonRecord("epoch", FleetEpochSchema),
  worker: jsonRecord("worker", WorkerSchema),
  callback: jsonRecord("callback", CallbackSchema),
  callbackBody: jsonRecord("callback body", CallbackBodySchema),
  fsckFound: jsonRecord("fsck found", FsckFoundSchema),
  operatorMail: jsonRecord("operator mail", OperatorMailSchema),
  auditAnchor: jsonRecord("audit anchor", AuditAnchorSchema),
  auditHead: jsonRecord("audit head", AuditHeadSchema),
  auditRecord: jsonRecord("audit record", AuditRecordSchema),
  batchClaim: jsonRecord("batch claim", BatchClaimSchema),
  chore: jsonRecord("chore", ChoreSchema),
  key: jsonRecord("key", KeySchema),
  beside: jsonRecord("beside", BesideSchema),
  token: jsonRecord("token", TokenSchema),
  operation: jsonRecord("operation", OperationSchema),
  jobNumbers: textRecord("job numbers", readNumbers, printNumbers),
  priority: count("priority"),
  spaceNeeded: count("space_needed"),
  counter: count("counter"),
  layout: count("layout"),
  bid: textRecord("bid", parseBatchId, (value) => value),
  jid: textRecord("jid", parseJobId, (value) => value),
  fleetId: textRecord(
    "fleet id",
    (raw) => (raw === "" ? null : raw),
    (value) => value,
  ),
} as const;

export const EMPTY = Buffer.alloc(0);
