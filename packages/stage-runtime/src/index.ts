export type {
  Admission,
  AdmissionCandidate,
  AdmissionVerdicts,
  BatchContext,
  BatchStage,
  Duty,
  HandlerContext,
  Inbox,
  InboxContext,
  InboxItem,
  JobContext,
  JobStage,
  ObjectLockName,
  Progress,
  Survey,
  Sweep,
  SweepContext,
} from "./duty.ts";
export { consumed, done, fail, retry, snooze } from "./outcome.ts";
export type { BatchOutcome, InboxOutcome, Outcome, Retry, Snooze } from "./outcome.ts";
export type { Log } from "./log.ts";
