import type { ErrorRequestHandler } from "express";

import { named } from "./named.ts";
import { type Problem, problem } from "./problem.ts";
import { sendProblem } from "./reply.ts";
import { requestIdOf } from "./request-id.ts";

/** Is told of every error that is ours; the client learns only the request's id. */
export type OnError = (error: unknown, requestId: string) => void;

/** Express's last resort: what was thrown becomes a problem document, never a stack or a message of ours. */
export function errorHandler(onError: OnError): ErrorRequestHandler {
  return named("errorHandler", (error: unknown, _request, response, next) => {
    const found = problemOfError(error);
    if (found.code === "INTERNAL_ERROR") onError(error, requestIdOf(response));
    // The answer has begun: all that is left is to break it off, so that nobody takes it for whole.
    if (response.headersSent) next(error);
    else sendProblem(response, found);
  });
}

const BY_TYPE: Readonly<Record<string, Problem>> = {
  "entity.too.large": problem("PAYLOAD_TOO_LARGE", "the body is larger than allowed"),
  "entity.parse.failed": problem("MALFORMED_REQUEST", "the body is not valid JSON"),
  "entity.verify.failed": problem("MALFORMED_REQUEST", "the body cannot be read"),
  "encoding.unsupported": problem("UNSUPPORTED_MEDIA_TYPE", "the content encoding is not understood"),
  "charset.unsupported": problem("UNSUPPORTED_MEDIA_TYPE", "the character set is not understood"),
  "request.aborted": problem("MALFORMED_REQUEST", "the body ended too early"),
  "request.size.invalid": problem("MALFORMED_REQUEST", "the body is not as long as announced"),
};

const OUR_FAULT = problem("INTERNAL_ERROR", "the request failed; its id helps us to find out why");

/** Body parsers mark their errors with a type; express marks an undecodable path with status 400. */
function problemOfError(error: unknown): Problem {
  if (typeof error !== "object" || error === null) return OUR_FAULT;
  const type = "type" in error && typeof error.type === "string" ? error.type : "";
  const known = type === "entity.excess" && "problem" in error ? (error.problem as Problem) : BY_TYPE[type];
  if (known !== undefined) return known;
  const isBadPath = "name" in error && error.name === "URIError" && "status" in error && error.status === 400;
  return isBadPath ? problem("MALFORMED_REQUEST", "the path cannot be decoded") : OUR_FAULT;
}
