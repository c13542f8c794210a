export { BATCH_ACTION_SAYS, batchStatesFor, eitherOf, JOB_ACTION_SAYS, jobStatesFor } from "./action-words.ts";
export { BATCH_STATES, BUCKETS, JOB_STATES, readBatchState, readJobState, STAGES } from "./states.ts";
export type { BatchState, Bucket, JobState, Stage } from "./states.ts";
export {
  BATCH_ACTIONS,
  BATCH_TABLE,
  batchRow,
  bucketOf,
  isEnded,
  isFinal,
  isLive,
  isMerritts,
  JOB_ACTIONS,
  JOB_TABLE,
  jobRow,
  nextBatchState,
  nextJobState,
  PIPELINE,
  predecessor,
  resumeAt,
  resumeChoices,
  stateOf,
} from "./transitions.ts";
export type { BatchAction, BatchMove, BatchRow, JobAction, JobMove, JobRow } from "./transitions.ts";
export {
  batchId,
  batchNumber,
  batchUuidFromKey,
  batchUuidFromRandom,
  ID_MAX,
  jobId,
  jobNumber,
  jobUuid,
  parseBatchId,
  parseBatchUuid,
  parseJobId,
  isOthersUuid,
  parseJobUuid,
} from "./ids.ts";
export type { BatchId, BatchUuid, JobId, JobUuid } from "./ids.ts";
export {
  clampPriority,
  DIRECTORIES,
  directoryOf,
  meaningOf,
  parseCallbackName,
  parseQueueEntry,
  paths,
  PRIORITY_MAX,
} from "./paths.ts";
export type { PathMeaning, QueueEntry } from "./paths.ts";
export { EMPTY, EVENT_KINDS, knownEvent, OPERATION_STATES, records, TokenSchema } from "./records.ts";
export type {
  AuditAnchor,
  AuditedJobs,
  AuditHead,
  AuditRecord,
  BatchStatus,
  CallbackBody,
  CallbackRecord,
  ChoreRecord,
  EventKind,
  Expansion,
  FleetEpoch,
  FleetIds,
  FleetJob,
  Hold,
  Identifiers,
  Inventory,
  JobConfiguration,
  JobEvent,
  JobStatus,
  KeptToken,
  KeyRecord,
  KnownEvent,
  Lock,
  Metadata,
  OperationRecord,
  Parsed,
  RecordType,
  StatusReport,
  Submission,
  WorkerProgress,
  WorkerRecord,
} from "./records.ts";
export {
  type Beside,
  BESIDE_STAGES,
  type BesideStage,
  type ForeignWrite,
  isMadeBeside,
  judgeWrite,
  overwritten,
  readBeside,
} from "./beside.ts";
export { type Adopter, adoptBatch, type Adoption } from "./adopt-batch.ts";
export { type UnknownBatch, unknownBatches } from "./unknown-batches.ts";
export { jobsMadeBeside, type NotedFailure, noteFailures } from "./beside-jobs.ts";
export { suspectsOfDisplacement } from "./displaced.ts";
export { findJobId, jobOfRow, nameOfRow } from "./job-rows.ts";
export { storedVersion } from "./manifest-version.ts";
export { type Placed, putInPlace, unlockedOps } from "./put-in-place.ts";
export { formatTimestamp, parseTimestamp } from "./timestamp.ts";
export {
  codeOfMessage,
  ERROR_CODES,
  failureMessage,
  givenUpMessage,
  isOfTheDeposit,
  isResumable,
  remedyFor,
} from "./errors.ts";
export type { ErrorCode, ErrorRow, Reader } from "./errors.ts";
export type { Actor, QueueContext } from "./context.ts";
export type {
  Candidate,
  ClaimName,
  ClaimResult,
  CommitResult,
  Ending,
  Guard,
  Job,
  JobChanges,
  JobVersions,
  Lease,
  LoadedJob,
  ReadyCandidate,
} from "./job.ts";
export { load, peek, sortEntries } from "./job-reads.ts";
export { endsJob, type JobStore, makeJobStore } from "./job-store.ts";
export type { NewEvent, Wait } from "./fleet-job.ts";
export type { Batch, BatchClaimResult, BatchEnding, BatchLease, ExpandResult, JobSpec, LoadedBatch } from "./batch.ts";
export { queueAccess, rightsOf } from "./node-rights.ts";
export {
  FIRST_EPOCH,
  type FleetIdentity,
  type FleetStamp,
  type IdentityResult,
  judgeStamp,
  nextEpoch,
  readIdentity,
  type StampVerdict,
} from "./fleet-identity.ts";
export {
  batchFolder,
  type BatchPlace,
  jobFolder,
  type JobPlace,
  parseBatchFolder,
  placeOfBatch,
  placeOfJob,
} from "./places.ts";
export { initTree, LAYOUT, makeSkeleton, openTree, type TreeObstacle, type TreeResult } from "./tree.ts";
export { ownerOf, ownerOfShare, shareOf, SHARES } from "./rendezvous.ts";
export { liftHold, listEndedHolds, SYSTEM } from "./hold-ends.ts";
export { type Holds, holdsGuard, type HoldTarget, parkedUntil, parkReason, readHolds } from "./holds.ts";
export { type IdBlocks, makeIdBlocks } from "./id-blocks.ts";
export { acquireObjectLocks, type ObjectLockResult, type ObjectLocks, releaseObjectLocks } from "./object-locks.ts";
export { createBatch, type CreateRequest, type CreateResult, findBatch } from "./batch-create.ts";
export { type BatchCommitResult, type BatchStore, makeBatchStore } from "./batch-store.ts";
export {
  CHUNK_ROWS,
  type Expander,
  type ExpanderOptions,
  makeExpander,
  QUEUE_ENTRIES_MAX,
  queueIsFull,
} from "./expansion.ts";
export { type GateResult, markDueIfLast, openReport } from "./report-gate.ts";
export { readReport, storeReport } from "./reports.ts";
export { type Chore, choreDone, CHORES, expectChore, readChores, RUNNERS_CHORES } from "./chores.ts";
export { auditedJobs, auditHash, auditProblem, isAmongJobs } from "./audit.ts";
export {
  type AnchorSigner,
  type AnchorStatement,
  type AnchorVerdict,
  type AnchorVerifier,
  readAnchorSigner,
  readAnchorVerifier,
  type SignedAnchor,
} from "./audit-anchor.ts";
export {
  AUDIT_PAGE,
  type AuditEnds,
  type AuditEndsRead,
  linkProblem,
  pageOf,
  readAudit,
  readAuditEnds,
  readAuditRecords,
  type StoredAudit,
} from "./audit-chain.ts";
export {
  allowsRemoval,
  type AnchorMoved,
  AUDIT_REMOVED_AT_ONCE,
  letAudit,
  removeAudited,
  setAuditAnchor,
} from "./audit-removal.ts";
export { findingsId, type Noticed, noticeFindings } from "./fsck-found.ts";
export { act, type ActionPlan, type ActionResult, type NotApplied, type Operator } from "./operator.ts";
export { AUDIT_RECORDS_BACK, type LastChange } from "./who-won.ts";
export type { JobOrder } from "./operator-plans.ts";
export { actOnJob, changePriority, orderJob, resumeJob } from "./operator-jobs.ts";
export {
  countJobs,
  type JobFilter,
  selectJobs,
  type SelectedJob,
  type SelectedPage,
  type SelectionCount,
  type SelectOptions,
} from "./bulk-select.ts";
export {
  type BulkException,
  type BulkOptions,
  type BulkProgress,
  type BulkResult,
  type BulkTally,
  orderJobs,
} from "./bulk.ts";
export {
  beginOperation,
  forgetOperations,
  listOperations,
  operationOp,
  OPERATION_JOBS_MAX,
  type ReadOperation,
  readOperation,
  readOperationJobs,
  saveOperation,
  stopOperation,
} from "./operations.ts";
export { type BatchMarks, isOurBatch } from "./our-batch.ts";
export { actOnBatch, orderCleanUp } from "./operator-batches.ts";
export { beginBeside, endBeside } from "./operator-beside.ts";
export { OURS_FROM } from "./numbers-apart.ts";
export { releaseHold, setHold } from "./operator-holds.ts";
export { keepToken, readTokens, revokeToken, type TokensRead } from "./operator-tokens.ts";
export { cleanUpBatch, type CleanUpResult, deleteJobsOfBatch, sweepEntry } from "./clean-up.ts";
export {
  type BatchSummary,
  type BatchView,
  type JobView,
  listBucket,
  readBatch,
  readBatches,
  readJob,
  readJobs,
  type Viewed,
} from "./readers.ts";
export {
  BATCHES_SCANNED_FOR_FIRST,
  BATCHES_SCANNED_MAX,
  type BatchQuery,
  type JobQuery,
  listBatches,
  listJobs,
  type Page,
} from "./lists.ts";
export { readProgress, workerOf } from "./progress.ts";
export { readSigns, type Signs, signsOfBatch, signsOfJob } from "./signs.ts";
export { HOLDS_SPACE, makeSpaceReader, spaceGuard, type SpaceLedger, type SpaceReader } from "./space.ts";
export { createJobOps, type NewJob } from "./job-ops.ts";
export { type CallbackEnd, callbackNoteOps, type CalledBack, calledBackOf } from "./callback-note.ts";
export { diedInHand, endOfClaim, explained, newFleetJob, noteOf, uncounted } from "./fleet-job.ts";
export { statusAsLeft } from "./put-back.ts";
export { batchEdges, describeStates, type Edge, jobEdges } from "./describe.ts";
export { describeZnodes, ZNODES, type ZnodeRow } from "./znodes.ts";
export { dayOf, expireKeys, findKeptKey, type KeptKey, KEYS_KEPT_DAYS } from "./kept-keys.ts";
