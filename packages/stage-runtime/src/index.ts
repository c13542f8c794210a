// What a handler sees and says, so that a stage needs no other package.
export type {
  CallbackBody,
  ClaimName,
  ErrorCode,
  Identifiers,
  Inventory,
  Job,
  JobChanges,
  JobConfiguration,
  JobId,
  JobState,
  JobUuid,
  Metadata,
} from "@sluice/queue-core";
export type {
  Admission,
  AdmissionCandidate,
  AdmissionVerdicts,
  Promised,
  WaitsFor,
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
  Places,
  Progress,
  Settled,
  Survey,
  Sweep,
  SweepContext,
} from "./duty.ts";
export { consumed, done, fail, retry, snooze, workerDied } from "./outcome.ts";
export type { BatchOutcome, Consumed, InboxOutcome, Outcome, Retry, Snooze, WorkerDied } from "./outcome.ts";
export { type Log, makeLog, silentLog } from "./log.ts";
export { baseConfig, type BaseConfig } from "./config/base-config.ts";
export { type EgressRule, egressSettings } from "./config/egress-settings.ts";
export { checkedText, flag, parsedText, port, ratio, serviceUrl, serviceUrls, wholeNumber } from "./config/fields.ts";
export { heldToken, type HeldToken } from "./config/held-token.ts";
export { parseConfig } from "./config/parse-config.ts";
export { type ConfigResult, type Environment, readConfig } from "./config/read-config.ts";
export { redactConfig } from "./config/redact-config.ts";
export type { Relation } from "./config/relations.ts";
export { CATALOGUE, type MetricSpec } from "./observe/catalogue.ts";
export { type Instruments, makeInstruments } from "./observe/metrics.ts";
export { type Failpoint, makeFailpoints } from "./engine/failpoints.ts";
export { Seldom } from "./engine/seldom.ts";
export type { Probe, ProbeEvent } from "./engine/probes.ts";
export { EXIT, type ExitCode } from "./service/exit-codes.ts";
export { OPS_PATHS } from "./service/ops-server.ts";
export type { Guest, HiredGuest } from "./service/guest.ts";
export type { ExtraServer, OpenQueue, ServiceHost, ServiceOptions, ServiceParts, StandIn } from "./service/options.ts";
export { stampedFolder, stampedOcflRoot, type StampedFolderOptions } from "./service/stamped-folder.ts";
export type { StampedPart, StampRead } from "./service/stamped-part.ts";
export { Service } from "./service/service.ts";
export { runService } from "./service/run-service.ts";
