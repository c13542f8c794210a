/**
 * Every znode path, and the parser of every name that we list. No other file spells a path.
 * The paths outside /fleet are CDL's; what is ours stands under /fleet and nowhere else.
 */
import { type BatchId, type BatchUuid, type JobId, type JobUuid, parseBatchId, parseJobId } from "./ids.ts";
import {
  BATCH_STATES,
  type BatchState,
  type Bucket,
  BUCKETS,
  JOB_STATES,
  type JobState,
  readBatchState,
  readJobState,
  STAGES,
  type Stage,
} from "./states.ts";
import { isMerritts } from "./transitions.ts";

/** Two digits, so that entry names sort as text: 00 is first. */
export const PRIORITY_MAX = 99;
export const clampPriority = (priority: number): number =>
  Number.isFinite(priority) ? Math.min(PRIORITY_MAX, Math.max(0, Math.trunc(priority))) : PRIORITY_MAX;

export const directoryOf = (state: JobState | BatchState): string => state.toLowerCase();
const entryName = (priority: number, id: JobId): string => `${String(clampPriority(priority)).padStart(2, "0")}-${id}`;

/** CDL's encoding of an ARK in a lock's name: `ark:/99999/fk4` is `ark_99999_fk4`. A collision only makes one wait. */
const cdlName = (raw: string): string => raw.replaceAll(/:?\//g, "_").replaceAll(FORBIDDEN, escaped);

/** What ZooKeeper takes in no name: control characters, whatever needs two UTF-16 units, private use. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Co}\u{FFF0}-\u{10FFFF}]/gu;
const escaped = (char: string): string =>
  [...Buffer.from(char)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

export const paths = {
  batches: "/batches",
  batch: (id: BatchId) => `/batches/${id}`,
  batchSubmission: (id: BatchId) => `/batches/${id}/submission`,
  batchStatus: (id: BatchId) => `/batches/${id}/status`,
  batchReport: (id: BatchId) => `/batches/${id}/status-report`,
  batchLock: (id: BatchId) => `/batches/${id}/lock`,
  batchStates: (id: BatchId) => `/batches/${id}/states`,
  bucket: (id: BatchId, bucket: Bucket) => `/batches/${id}/states/${bucket}`,
  bucketEntry: (id: BatchId, bucket: Bucket, job: JobId) => `/batches/${id}/states/${bucket}/${job}`,
  batchUuids: "/batch-uuids",
  batchUuid: (uuid: BatchUuid) => `/batch-uuids/${uuid}`,

  jobs: "/jobs",
  job: (id: JobId) => `/jobs/${id}`,
  jobBid: (id: JobId) => `/jobs/${id}/bid`,
  jobConfiguration: (id: JobId) => `/jobs/${id}/configuration`,
  jobIdentifiers: (id: JobId) => `/jobs/${id}/identifiers`,
  jobMetadata: (id: JobId) => `/jobs/${id}/metadata`,
  jobInventory: (id: JobId) => `/jobs/${id}/inventory`,
  jobPriority: (id: JobId) => `/jobs/${id}/priority`,
  jobSpaceNeeded: (id: JobId) => `/jobs/${id}/space_needed`,
  jobStatus: (id: JobId) => `/jobs/${id}/status`,
  jobLock: (id: JobId) => `/jobs/${id}/lock`,
  jobStates: "/jobs/states",
  queue: (state: JobState) => `/jobs/states/${directoryOf(state)}`,
  queueEntry: (state: JobState, priority: number, id: JobId) =>
    `/jobs/states/${directoryOf(state)}/${entryName(priority, id)}`,

  locks: "/locks",
  queueLocks: "/locks/queue",
  queuePause: "/locks/queue/ingest",
  collectionLocks: "/locks/collections",
  collectionHold: (profile: string) => `/locks/collections/${profile}`,
  storageLocks: "/locks/storage",
  storageLock: (ark: string) => `/locks/storage/${cdlName(ark)}`,
  inventoryLocks: "/locks/inventory",
  inventoryLock: (ark: string) => `/locks/inventory/${cdlName(ark)}`,
  localIdLocks: "/locks/localid",
  /** CDL puts the raw local id there; one with a slash would be a path of its own, so it is encoded like an ARK. */
  localIdLock: (localId: string, ownerArk: string) => `/locks/localid/${cdlName(localId)}_${cdlName(ownerArk)}`,

  fleet: "/fleet",
  fleetId: "/fleet/id",
  /** Which fleet this is, and how often its tree was restored. */
  fleetEpoch: "/fleet/epoch",
  /** There from the first to the last write of a restore: what stands beside it is not a tree yet. */
  restoring: "/fleet/restoring",
  /** The same, of an import. */
  importing: "/fleet/importing",
  /** A program with CDL's library has one stage of this tree. */
  beside: "/fleet/beside",
  layout: "/fleet/layout",
  fleetIds: "/fleet/ids",
  fleetJobs: "/fleet/jobs",
  fleetJob: (id: JobId) => `/fleet/jobs/${id}`,
  fleetBatches: "/fleet/batches",
  fleetBatchQueue: (state: BatchState) => `/fleet/batches/${directoryOf(state)}`,
  fleetBatch: (state: BatchState, id: BatchId) => `/fleet/batches/${directoryOf(state)}/${id}`,
  dueBatches: "/fleet/batches/due",
  dueBatch: (id: BatchId) => `/fleet/batches/due/${id}`,
  cleanUps: "/fleet/clean-ups",
  cleanUp: (id: BatchId) => `/fleet/clean-ups/${id}`,
  /** Names outside of jobs that were imported: their UUIDs do not say where the jobs are. */
  jobUuids: "/fleet/job-uuids",
  importedJob: (uuid: JobUuid) => `/fleet/job-uuids/${uuid}`,
  expansions: "/fleet/expansion",
  expansion: (id: BatchId) => `/fleet/expansion/${id}`,
  holds: "/fleet/holds",
  space: "/fleet/space",
  pausedStages: "/fleet/paused",
  pausedStage: (stage: Stage) => `/fleet/paused/${stage}`,
  drains: "/fleet/drain",
  drain: (worker: string) => `/fleet/drain/${worker}`,
  workers: "/fleet/workers",
  stageWorkers: (stage: string) => `/fleet/workers/${stage}`,
  worker: (stage: string, id: string) => `/fleet/workers/${stage}/${id}`,
  callbacks: "/fleet/callbacks",
  callback: (id: JobId, retry: number) => `/fleet/callbacks/${id}.${String(retry)}`,
  /** What a job in Notify is telling: frozen before it is first said. */
  callbackBodies: "/fleet/callback-bodies",
  callbackBody: (id: JobId) => `/fleet/callback-bodies/${id}`,
  chores: "/fleet/chores",
  chore: (name: string) => `/fleet/chores/${name}`,
  /** What fsck found last: whether it is news is judged by this. */
  fsckFound: "/fleet/fsck-found",
  /** Batches whose depositors are to be told that they are being ingested. */
  queuedMails: "/fleet/queued-mails",
  queuedMail: (id: BatchId) => `/fleet/queued-mails/${id}`,
  operatorMails: "/fleet/operator-mails",
  operatorMail: (id: string) => `/fleet/operator-mails/${id}`,
  keys: "/fleet/keys",
  keysOfDay: (day: string) => `/fleet/keys/${day}`,
  key: (day: string, uuid: BatchUuid) => `/fleet/keys/${day}/${uuid}`,
  reports: "/fleet/reports",
  batchReports: (id: BatchId) => `/fleet/reports/${id}`,
  reportChunks: (id: BatchId, report: number) => `/fleet/reports/${id}/${String(report)}`,
  reportChunk: (id: BatchId, report: number, chunk: number) =>
    `/fleet/reports/${id}/${String(report)}/${String(chunk).padStart(4, "0")}`,
  operations: "/fleet/operations",
  /** Those that somebody has to carry on with. */
  dueOperations: "/fleet/operations/due",
  operationRecords: "/fleet/operations/records",
  operation: (id: string) => `/fleet/operations/records/${id}`,
  operationJobs: (id: string) => `/fleet/operations/records/${id}/jobs`,
  tokens: "/fleet/tokens",
  token: (id: string) => `/fleet/tokens/${id}`,
  audit: "/fleet/audit",
  auditHead: "/fleet/audit/head",
  /** Where the records begin that are still in the tree. */
  auditAnchor: "/fleet/audit/anchor",
  auditRecords: "/fleet/audit/records",
  auditRecord: (number: number) => `/fleet/audit/records/${String(number).padStart(10, "0")}`,
} as const;

/** The directories that must exist before anything is written, parents first. */
export const DIRECTORIES: readonly string[] = [
  paths.batches,
  paths.batchUuids,
  paths.jobs,
  paths.jobStates,
  // Merritt's own state has a queue only where a library of theirs has made it.
  ...JOB_STATES.filter((state) => !isMerritts(state)).map(paths.queue),
  paths.locks,
  paths.queueLocks,
  paths.collectionLocks,
  paths.storageLocks,
  paths.inventoryLocks,
  paths.localIdLocks,
  paths.fleet,
  paths.fleetJobs,
  paths.fleetBatches,
  ...BATCH_STATES.map(paths.fleetBatchQueue),
  paths.dueBatches,
  paths.cleanUps,
  paths.jobUuids,
  paths.expansions,
  paths.pausedStages,
  paths.drains,
  paths.workers,
  ...STAGES.map(paths.stageWorkers),
  paths.callbacks,
  paths.callbackBodies,
  paths.chores,
  paths.queuedMails,
  paths.operatorMails,
  paths.keys,
  paths.reports,
  paths.operations,
  paths.dueOperations,
  paths.operationRecords,
  paths.tokens,
  paths.audit,
  paths.auditRecords,
];

export interface QueueEntry {
  readonly priority: number;
  readonly id: JobId;
}

export function parseQueueEntry(name: string): QueueEntry | null {
  const match = /^(\d{2})-(.+)$/.exec(name);
  const id = match?.[2] === undefined ? null : parseJobId(match[2]);
  return match?.[1] === undefined || id === null ? null : { priority: Number(match[1]), id };
}

export function parseCallbackName(name: string): { readonly id: JobId; readonly retry: number } | null {
  const match = /^(jid\d{10})\.(\d{1,9})$/.exec(name);
  const id = match?.[1] === undefined ? null : parseJobId(match[1]);
  return match?.[2] === undefined || id === null ? null : { id, retry: Number(match[2]) };
}

/** What a path is, for readers of a whole tree or of the transaction log. */
export type PathMeaning =
  | { readonly kind: "queue-entry"; readonly state: JobState; readonly priority: number; readonly job: JobId }
  | { readonly kind: "job"; readonly job: JobId }
  | { readonly kind: "job-node"; readonly job: JobId; readonly name: string }
  | { readonly kind: "batch"; readonly batch: BatchId }
  | { readonly kind: "batch-node"; readonly batch: BatchId; readonly name: string }
  | { readonly kind: "bucket"; readonly batch: BatchId; readonly bucket: Bucket }
  | { readonly kind: "bucket-entry"; readonly batch: BatchId; readonly bucket: Bucket; readonly job: JobId }
  | { readonly kind: "batch-uuid"; readonly uuid: string }
  | { readonly kind: "fleet-job"; readonly job: JobId }
  | { readonly kind: "fleet-batch"; readonly state: BatchState; readonly batch: BatchId }
  | { readonly kind: "due-batch"; readonly batch: BatchId }
  | { readonly kind: "expansion"; readonly batch: BatchId }
  | { readonly kind: "worker"; readonly stage: string; readonly worker: string }
  | { readonly kind: "callback"; readonly job: JobId; readonly retry: number }
  | { readonly kind: "collection-hold"; readonly profile: string }
  | { readonly kind: "object-lock"; readonly family: "storage" | "inventory" | "localid"; readonly name: string }
  | { readonly kind: "other" };

const OTHER: PathMeaning = { kind: "other" };
const isBucket = (raw: string): raw is Bucket => BUCKETS.some((bucket) => bucket === raw);

export function meaningOf(path: string): PathMeaning {
  const [top, a, b, c, d, ...rest] = path.split("/").slice(1);
  if (top === undefined || a === undefined || rest.length > 0) return OTHER;
  switch (top) {
    case "jobs":
      return d === undefined ? jobMeaning(a, b, c) : OTHER;
    case "batches":
      return batchMeaning(a, b, c, d);
    case "batch-uuids":
      return b === undefined ? { kind: "batch-uuid", uuid: a } : OTHER;
    case "fleet":
      return b === undefined || d !== undefined ? OTHER : fleetMeaning(a, b, c);
    case "locks":
      return b === undefined || c !== undefined ? OTHER : lockMeaning(a, b);
    default:
      return OTHER;
  }
}

function jobMeaning(a: string, b: string | undefined, c: string | undefined): PathMeaning {
  if (a === "states") {
    const state = b === undefined ? null : readJobState(b);
    const entry = c === undefined ? null : parseQueueEntry(c);
    return state === null || entry === null
      ? OTHER
      : { kind: "queue-entry", state, priority: entry.priority, job: entry.id };
  }
  const job = parseJobId(a);
  if (job === null || c !== undefined) return OTHER;
  return b === undefined ? { kind: "job", job } : { kind: "job-node", job, name: b };
}

function batchMeaning(a: string, b?: string, c?: string, d?: string): PathMeaning {
  const batch = parseBatchId(a);
  if (batch === null) return OTHER;
  if (b === undefined) return { kind: "batch", batch };
  if (c === undefined) return { kind: "batch-node", batch, name: b };
  if (b !== "states" || !isBucket(c)) return OTHER;
  if (d === undefined) return { kind: "bucket", batch, bucket: c };
  const job = parseJobId(d);
  return job === null ? OTHER : { kind: "bucket-entry", batch, bucket: c, job };
}

function fleetMeaning(a: string, b: string, c: string | undefined): PathMeaning {
  const job = parseJobId(b);
  const batch = parseBatchId(c ?? b);
  if (a === "jobs" && c === undefined && job !== null) return { kind: "fleet-job", job };
  if (a === "expansion" && c === undefined && batch !== null) return { kind: "expansion", batch };
  if (a === "workers" && c !== undefined) return { kind: "worker", stage: b, worker: c };
  if (a === "callbacks" && c === undefined) {
    const callback = parseCallbackName(b);
    return callback === null ? OTHER : { kind: "callback", job: callback.id, retry: callback.retry };
  }
  if (a !== "batches" || c === undefined || batch === null) return OTHER;
  if (b === "due") return { kind: "due-batch", batch };
  const state = readBatchState(b);
  return state === null ? OTHER : { kind: "fleet-batch", state, batch };
}

function lockMeaning(family: string, name: string): PathMeaning {
  if (family === "collections") return { kind: "collection-hold", profile: name };
  if (family === "storage" || family === "inventory" || family === "localid")
    return { kind: "object-lock", family, name };
  return OTHER;
}
