/** An endpoint of the table and what is done for it, as an operation: route, checks, permission and documentation. */
import type { Caller } from "@sluice/access";
import {
  ANSWERED,
  callerOf,
  endpointSpec,
  operation,
  type Operation,
  type OperationHandler,
  type OperationSpec,
  type Problem,
  type ProblemCode,
  type Reply,
  type ResponseSpec,
} from "@sluice/http-api";
import type { Endpoint } from "@sluice/wire";
import type { Request, Response } from "express";
import { z } from "zod";

export interface Asked<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
  readonly caller: Caller;
  readonly request: Request;
  readonly response: Response;
}

/** The endpoint's answer, a problem, or the news that the handler has answered by itself. */
export type Served<A> = { readonly value: A } | { readonly problem: Problem } | typeof ANSWERED;

/** … by a function that answers nobody itself. */
export type Seen<T> = Exclude<Served<T>, typeof ANSWERED>;

export type Handler<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType> = (
  asked: Asked<P, Q, B>,
) => Promise<Served<z.output<A>>> | Served<z.output<A>>;

/** Why what the path names is not there for this caller; asked before the body is looked at, so that nothing is said of it. */
export type Refuses<P extends z.ZodType> = (
  params: z.output<P>,
  caller: Caller,
) => Promise<Problem | null> | Problem | null;

export function serve<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  endpoint: Endpoint<P, Q, B, A>,
  handle: Handler<P, Q, B, A>,
  refuses: Refuses<P> = () => null,
): Operation {
  const answer: OperationHandler<P, Q, B> = async (input, request, response) => {
    const served = await handle({ ...input, caller: callerOf(response), request, response });
    if (served === ANSWERED || "problem" in served) return served;
    return replyOf(endpoint.status, served.value, request);
  };
  return operation(specOf(endpoint), answer, {
    refusePath: (params, _request, response) => refuses(params, callerOf(response)),
  });
}

/** A page's next one stands in the Link header too (RFC 8288). */
function replyOf(status: number, body: unknown, request: Request): Reply {
  const next = typeof body === "object" && body !== null && "next_cursor" in body ? body.next_cursor : null;
  if (typeof next !== "string") return { status, body };
  const url = new URL(request.originalUrl, "http://localhost");
  url.searchParams.set("cursor", next);
  return { status, body, headers: { Link: `<${url.pathname}${url.search}>; rel="next"` } };
}

function specOf<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  endpoint: Endpoint<P, Q, B, A>,
): OperationSpec<P, Q, B> {
  return {
    ...endpointSpec(endpoint),
    responses: { [endpoint.status]: responseOf(endpoint) },
    problems: problemsOf(endpoint),
  };
}

function responseOf({ answer, stream }: Endpoint): ResponseSpec {
  if (stream === true) {
    return {
      description: "server-sent events; the data of each is such a value, `end` comes after the last",
      content: { "text/event-stream": answer ?? z.string() },
    };
  }
  return answer === undefined
    ? { description: "a file", content: { "application/octet-stream": z.string() } }
    : { description: "it", content: { "application/json": answer } };
}

function problemsOf({ params, method }: Endpoint): readonly ProblemCode[] {
  return [
    ...(params === undefined ? [] : ["NOT_FOUND" as const]),
    ...(method === "get" ? [] : ["CONFLICT" as const, "CONFIRMATION_NEEDED" as const]),
    "UNAVAILABLE",
  ];
}
