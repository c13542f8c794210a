export { PROBLEM_MEDIA_TYPE, problem, problemDocument, PROBLEMS, problemType } from "./problem.ts";
export type { Problem, ProblemCode, ProblemDocument, ProblemItem } from "./problem.ts";
export { requestIdOf, requestIds } from "./request-id.ts";
export { named } from "./named.ts";
export { notFound, type Reply, route, sendProblem } from "./reply.ts";
export { errorHandler, type OnError } from "./error-handler.ts";
export { ERRORS_MAX, type Input, readInput } from "./input.ts";
export { type FirstMember, JSON_DEPTH_MAX, JSON_VALUES_MAX, jsonBodies } from "./body/json-bodies.ts";
export { type JsonLimits, JsonScanner } from "./body/json-scanner.ts";
export { type AppOptions, createApp, isProxyOf } from "./app.ts";
export { type HttpServer, listen, type Listening, type ListenOptions } from "./listen.ts";
export {
  ANSWERED,
  type Before,
  type BodySpec,
  type FormHandler,
  formOperation,
  type Handled,
  type Method,
  type Operation,
  operation,
  type OperationHandler,
  type OperationInput,
  type OperationSpec,
  type ResponseSpec,
} from "./operation.ts";
export { addOperations, expressPath } from "./add-operations.ts";
export { type EndpointLike, endpointSpec } from "./endpoint-spec.ts";
export {
  cursorOf,
  type CursorOf,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  pageFields,
  pageReply,
  pageSchema,
  readCursor,
} from "./paging.ts";
export type { ServerEvent } from "./event-format.ts";
export type { EventStream } from "./event-stream.ts";
export {
  type EventStreams,
  type EventStreamsOptions,
  makeEventStreams,
  type StreamChange,
  wantsEvents,
} from "./event-streams.ts";
export { type ApiInfo, openApiDocument, type OpenApiDocument } from "./openapi/document.ts";
export { DOCS_PATHS, DOCS_POLICY, serveDocs } from "./docs/serve-docs.ts";
export {
  allow,
  type BrowserSession,
  type BrowserSessions,
  callerOf,
  callers,
  type CallersOptions,
  cookieOf,
  credentialsOf,
  isStillCaller,
  stillCheck,
  tooMany,
} from "./wall/callers.ts";
export { type Guesses, GUESSES_PER_MINUTE, makeGuesses } from "./wall/guesses.ts";
export { holdBodies } from "./wall/hold-bodies.ts";
export { limitCallers } from "./wall/limits.ts";
export { type AnsweredHosts, ownPagesOnly } from "./wall/own-pages.ts";
export type { Forbidden } from "./wall/forbidden.ts";
export { hostsAnswered, wall, type WallOptions } from "./wall/wall.ts";
export { HTTP_DEFAULTS, HTTP_FIELDS, type HttpSettings } from "./server/settings.ts";
export { countRefusals, HTTP_METRICS } from "./server/metrics.ts";
export type { Guarded } from "./server/guard.ts";
