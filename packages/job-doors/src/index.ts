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
export { Errands } from "./bedrock/errands.ts";
export { HeldLeases, renewAll } from "./bedrock/held-leases.ts";
export { type ConnectionLimits } from "./bedrock/wire-connection.ts";
export { listenOnWire, type WireListening, type WireServer, type WireServerOptions } from "./bedrock/wire-server.ts";
export { jobOperations, type JobOperationsPorts } from "./http/operations.ts";
export { COMMAND_ANSWERS, COMMAND_BODIES, type CommandVerb } from "./http/schemas.ts";
export { endingOf, type Ending, payloadOf, payloadsOf, printIds, readAddedJobs } from "./serverless/jobs.ts";
