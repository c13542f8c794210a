export { PROBLEM_MEDIA_TYPE, problem, problemDocument, PROBLEMS, problemType } from "./problem.ts";
export type { Problem, ProblemCode, ProblemDocument, ProblemItem } from "./problem.ts";
export { requestIdOf, requestIds } from "./request-id.ts";
export { notFound, type Reply, route, sendProblem } from "./reply.ts";
export { errorHandler, type OnError } from "./error-handler.ts";
export { type Input, jsonBodies, readInput } from "./input.ts";
export { type AppOptions, createApp } from "./app.ts";
export { type HttpServer, listen, type Listening, type ListenOptions } from "./listen.ts";
