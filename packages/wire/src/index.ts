export { type AnswerOf, type BodyOf, type Endpoint, endpoint, type ParamsOf, type QueryOf } from "./endpoint.ts";
export { anyId, HoldView, page, pageOf, reason } from "./common.ts";
export {
  Batch,
  BatchDetail,
  BatchSummary,
  type Callback,
  Job,
  JobDetail,
  JobFile,
  JobSummary,
  LogLine,
  type MailSent,
} from "./deposits.ts";
export { batchOfArchive, jobOfArchive, type KeptBatch, type KeptJob, pageOfArchive } from "./archived-views.ts";
export {
  type AnyJob,
  FROM_QUEUE,
  fromArchive,
  type Origin,
  rfc3339,
  showBatch,
  showBatchSummary,
  showJob,
  showJobSummary,
  submittedAtMs,
} from "./views.ts";
export { CollectionView, FailureGroup, HistorySample, Overview, SpaceView, StageView, WorkerView } from "./overview.ts";
export {
  BATCH_REQUESTS,
  BatchRequest,
  BulkPreview,
  BulkRequest,
  Done,
  JOB_REQUESTS,
  JobFilter,
  JobRequest,
  OperationView,
  SwitchRequest,
} from "./actions.ts";
export {
  AuditVerdict,
  AuditView,
  Finding,
  FsckReport,
  MailView,
  Me,
  Model,
  NodeView,
  RepairReport,
  RepairRequest,
  TokenMade,
  TokenRequest,
  type EndingTokenView,
  TokenView,
} from "./records.ts";
export {
  Accepted,
  CancelledDeposit,
  ScheduledDeposit,
  ScheduledDepositDetail,
  BatchRefusal,
  BatchRefusals,
  KEPT_STATES,
  NewBatch,
  DUBLIN_CORE_FIELDS,
  OBJECTS_MAX,
  OBJECTS_OF_FILES_MAX,
  SUBMISSION_FIELDS,
  SubmittedBatch,
  SubmittedFile,
  SubmittedObject,
} from "./submissions.ts";
export { INTAKE } from "./intake.ts";
export { redactJson, redactValue } from "./redact.ts";
export { ADMIN } from "./admin.ts";
export { COMMAND_ANSWERS, COMMAND_BODIES, type CommandVerb, NewJob, TakenJob } from "./job-commands.ts";
export { rightOfVerb, VERB_RIGHTS, type VerbRight } from "./job-verbs.ts";
export {
  Handler,
  HANDLER_BYTES,
  HANDLER_LANGUAGES,
  HandlerLanguage,
  HandlerSpec,
  HandlerSummary,
} from "./job-handlers.ts";
export {
  FairlyTakenJob,
  JobEvent,
  JobResult,
  JobRun,
  JobWorker,
  QUEUED_JOB_STATES,
  QueuedJob,
  QueuedJobDetail,
  QueueShard,
  QueueTenant,
  QueueType,
} from "./job-views.ts";
export { JOBS } from "./jobs.ts";
export { codeOfExit, codeOfRun, RUN_CODES, RunCode } from "./run-codes.ts";
export { JOB_HOUSE, Purged } from "./job-house.ts";
export {
  ClaimView,
  EndedClaim,
  type ObjectLock,
  STAGE_API,
  STAGE_LIMITS,
  StageChanges,
  StageInfo,
  StageJob,
  StageTaken,
} from "./stage-api.ts";
