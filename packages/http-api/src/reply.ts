import type { Request, RequestHandler, Response } from "express";

import { PROBLEM_MEDIA_TYPE, type Problem, problem, problemDocument, PROBLEMS } from "./problem.ts";
import { requestIdOf } from "./request-id.ts";

export function sendProblem(response: Response, found: Problem): void {
  if (found.retryAfterSeconds !== undefined) response.set("Retry-After", String(Math.ceil(found.retryAfterSeconds)));
  response
    .status(PROBLEMS[found.code].status)
    .type(PROBLEM_MEDIA_TYPE)
    .send(JSON.stringify(problemDocument(found, requestIdOf(response))));
}

/** What a route answers: a value, or a problem. */
export type Reply =
  | {
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly problem: Problem };

/** A route as a function from request to reply. What it throws is a bug and becomes INTERNAL_ERROR. */
export function route(handle: (request: Request, response: Response) => Promise<Reply> | Reply): RequestHandler {
  return async (request, response) => {
    sendReply(response, await handle(request, response));
  };
}

export function sendReply(response: Response, reply: Reply): void {
  if ("problem" in reply) {
    sendProblem(response, reply.problem);
    return;
  }
  response.status(reply.status).set(reply.headers ?? {});
  if (reply.body === undefined) response.end();
  else response.json(reply.body);
}

/** The last route: nothing matched. */
export const notFound: RequestHandler = (request, response) => {
  sendProblem(response, problem("NOT_FOUND", `there is no ${request.method} ${request.path}`));
};
