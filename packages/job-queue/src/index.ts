export { blockOf, BLOCK_IDS, parseJobId, shardOf } from "./ids.ts";
export { matchesName, namesText, parseNames, type NameMatch } from "./names.ts";
export { fieldsOf, hasLargeNumbers } from "./json-text.ts";
export { isNestedDeeper } from "./nesting.ts";
export { meaningOf, parseTermName, paths, type Meaning } from "./paths.ts";
export { type BlobRef, type BlobStore } from "./blobs.ts";
export { type Answer, giveBack, queueOfOwner, type QueuePort } from "./queue-port.ts";
export type { EndedRun, KeptRun, RunArchive, RunPage, RunsAsked } from "./run-archive.ts";
export {
  records,
  type Done,
  type Ids,
  type Job,
  type Layout,
  type Lease,
  type Restored,
  type StoredJob,
} from "./records.ts";
export {
  isAllowed,
  isLeased,
  isPending,
  isReachable,
  MOVES,
  STATE_TABLE,
  STATES,
  type Move,
  type State,
} from "./states.ts";
export { DEFAULT_TENANT, isTenant, shardOfTenant, SHARDS, SYSTEM_TENANT } from "./tenants.ts";
export { applyModifiers, parseModifiers, type Modifier } from "./time/modifiers.ts";
export { nextRunOf, parseRepeat, type Moments, type Repeat } from "./time/repeat.ts";
export { parseTime, showSeconds, showTime } from "./time/timestamp.ts";
export type { Change, Unit } from "./shard/changes.ts";
export type {
  Caller,
  Command,
  CreateJobs,
  GetJobs,
  IngestAdds,
  JournalledJob,
  ListJobs,
  ListRuns,
  NewJob,
  SwapJob,
} from "./shard/commands.ts";
export type {
  ChildView,
  Content,
  JobRecord,
  JobView,
  ListedView,
  Reply,
  RunView,
  StateView,
  Taken,
  TakenView,
  TypeCounts,
} from "./shard/views.ts";
export { decide, type Decision } from "./shard/decide.ts";
export { type Notice, NOTICES } from "./shard/notices.ts";
export { WILL_NOT_REPEAT } from "./shard/job.ts";
export {
  CONTAINER_TYPE,
  type ContainerPhase,
  type ContainerState,
  containerPhase,
  containerStates,
} from "./shard/container-states.ts";
export { readData } from "./shard/data.ts";
export { isStatus } from "./shard/params.ts";
export { fetchLarge, storeLarge } from "./shard/large.ts";
export { readCommand, type Asker } from "./shard/request.ts";
export { Shard, type Loaded, type ShardLimits } from "./shard/shard.ts";
export { birthProblem } from "./shard/sealed.ts";
export { STATUS, type Status } from "./shard/statuses.ts";
export { AGED_MS, FairScheduler, typeKey, type FairnessOptions } from "./scheduler.ts";
export { Ring } from "./memory/ring.ts";
export type { TurnsAsked, Wanted, WaitingType } from "./memory/ready-index.ts";
export { EXPECTED_MS, type TenantUsage, Usage } from "./memory/usage.ts";
export type { AppliedTransaction, RedoLog } from "./redo.ts";
export { ownShard, ShardOwner, type OwnerPorts, type Owning, type Quarantined } from "./owner/owner.ts";
export type { PipelineHooks } from "./owner/pipeline.ts";
export type { Term } from "./owner/term.ts";
export { prepareQueue, type Prepared } from "./owner/tree.ts";
export {
  CREATES_PER_TRANSACTION,
  DATA_BYTES,
  DATA_DEPTH,
  JOBS_PER_SHARD,
  JOBS_PER_TENANT,
  LEASE_MS,
  LEASE_MS_LEAST,
  LEASE_MS_MOST,
  type LeaseKind,
  REQUEST_DEPTH,
  RESULT_BYTES,
  TRANSACTION_BYTES,
  TREE_BYTES,
  WORKER_BYTES,
} from "./limits.ts";
export { checkQueue, type QueueViolation } from "./check/check.ts";
export type { LoggedOp, LoggedTransaction } from "./check/model.ts";
export { blobNamesInTree } from "./owner/blob-names.ts";
