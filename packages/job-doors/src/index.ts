export {
  type Answer,
  type GetJobs,
  giveBack,
  type Later,
  queueOfOwner,
  type QueuePort,
  textsOf,
  UNKNOWN_OUTCOME,
} from "./queue-port.ts";
export {
  RequestParser,
  WIRE_LIMITS,
  type WireFault,
  type WireLimits,
  type WireRequest,
} from "./bedrock/request-parser.ts";
export { printWireReply, type WireReply, wireReplyOf } from "./bedrock/reply-printer.ts";
export { printJob, printLoosely, type Shown } from "./bedrock/json-printer.ts";
export { type Admission, Conversation, type Line, type Peer, type WirePorts } from "./bedrock/conversation.ts";
export { ERRAND_LIMITS, type ErrandLimits, Errands } from "./bedrock/errands.ts";
export { LOBBY_LIMITS, type LobbyLimits } from "./bedrock/lobby.ts";
export { HeldLeases, renewAll } from "./bedrock/held-leases.ts";
export { type ConnectionLimits } from "./bedrock/wire-connection.ts";
export { listenOnWire, type WireListening, type WireServer, type WireServerOptions } from "./bedrock/wire-server.ts";
export { type Order, type WriteAudit } from "./http/audit.ts";
export { jobOperations } from "./http/operations.ts";
export type { HandlersPort, JobPorts, TakenOfTenant, Taking } from "./http/ports.ts";
export { intentOf, tenantProblem } from "./http/tenancy.ts";
export { type Door, type Hear, type JobNews } from "./heard.ts";
export { queueWithBlobs } from "./large-queue.ts";
export { type EtcdJob } from "./etcd/schema.ts";
export { payloadOf, payloadsOf, printIds, readAdding } from "./serverless/jobs.ts";
