export {
  aBatch,
  aBatchOfJobs,
  type ABatchOfJobs,
  advance,
  aJobSpec,
  aSubmission,
  claimJob,
  makeTree,
  newId,
  readyEntry,
  registerWorker,
  testWorker,
  type TestWorker,
  type WorkerOptions,
} from "./builders.ts";
export {
  certificateAuthority,
  type Certificate,
  type CertificateAuthority,
  type CertificateRequest,
} from "./certificates.ts";
export { type CdlBatch as CdlBatchItem } from "./cdl/batch.ts";
export { type CdlCall, KeeperFault, type OnCall } from "./cdl/calls.ts";
export { type CdlJob as CdlJobItem } from "./cdl/job.ts";
export { cdlLibrary, type CdlLibrary, type CdlLibraryOptions, type CdlWork, consumeOne } from "./cdl/library.ts";
export { MerrittStateError } from "./cdl/states.ts";
export { cdlWriter, type CdlBatch, type CdlJob, type CdlWriter } from "./cdl-writer.ts";
export { doubledKeys } from "./doubled-keys.ts";
export { type Ensemble, startEnsemble } from "./ensemble.ts";
export { startFaultProxy, type FaultProxy } from "./fault-proxy.ts";
export { later } from "./later.ts";
export type { ProxyMode, RequestFrame, RequestRule, Verdict } from "./proxy-types.ts";
export { type CreateMode, openRawSession, type RawSession } from "./raw-session.ts";
export { READER_ID, securedZooKeeper, type SecuredZooKeeper } from "./secured-zookeeper.ts";
export { ownZooKeeper, testZooKeeper, type OwnZooKeeper, type TestZooKeeper } from "./test-zookeeper.ts";
export { readTransactions, sentBy } from "./transaction-log.ts";
export { touches, type LoggedOp, type Transaction } from "./transaction.ts";
export { tree, type TreeOptions, type TreeSource } from "./tree.ts";
export { WAIT_LIMIT_MS, waitFor, type WaitOptions } from "./wait-for.ts";
export {
  checkInvariants,
  describeViolation,
  type CheckOptions,
  type CheckResult,
  type Violation,
} from "./invariants/check.ts";
export { INVARIANTS, type InvariantName } from "./invariants/names.ts";
export type { Role } from "./invariants/views.ts";
export { type CollectedSpan, type Collector, startCollector } from "./outside/collector.ts";
export { EZID_ACCOUNT, ezidServer, parseEzidBody, type EzidServer } from "./outside/ezid-server.ts";
export { serveHttp, TROUBLES, type HttpServer, type Ledger, type Received } from "./outside/http-server.ts";
export { mailServer, type Delivered, type MailServer } from "./outside/mail-server.ts";
export { storageServer, type StorageServer } from "./outside/storage-server.ts";
export { WireClient } from "./outside/wire-client.ts";
export { numbered } from "./callback-keys.ts";
