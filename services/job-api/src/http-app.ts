/** The queue over HTTP: behind its wall, its documentation before it. */
import {
  addOperations,
  createApp,
  type Forbidden,
  openApiDocument,
  type OpenApiDocument,
  type Operation,
  serveDocs,
  wall,
  type WallOptions,
} from "@sluice/http-api";
import type { Instruments, Log } from "@sluice/stage-runtime";
import type { Express, RequestHandler } from "express";
import type { DOOR_METRICS } from "./metrics.ts";

export interface HttpParts {
  readonly operations: readonly Operation[];
  readonly wall: Omit<WallOptions, "onRefused">;
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly metrics: Instruments<typeof DOOR_METRICS>;
  readonly log: Log;
  readonly version: string;
}

export function jobApp({ operations, wall: options, trustedProxies, metrics, log, version }: HttpParts): Express {
  const onError = (error: unknown, requestId: string): void =>
    log.error({ err: error, request_id: requestId }, "a request failed");
  const onForbidden = ({ requestId, ...what }: Forbidden): void =>
    log.warn({ ...what, request_id: requestId }, "a request was refused: its caller may not do that");
  return createApp({ onError, onForbidden, trustedProxies }, (app) => {
    serveDocs(app, jobDocument(operations, version));
    app.use(...wall({ ...options, onRefused: () => metrics.refused.inc() }));
    addOperations(
      app,
      operations.map((each) => counted(each, metrics)),
    );
  });
}

function counted({ spec, handlers }: Operation, { requests }: HttpParts["metrics"]): Operation {
  const count: RequestHandler = (_request, response, next) => {
    response.on("finish", () => requests.inc({ operation: spec.id, status: String(response.statusCode) }));
    next();
  };
  return { spec, handlers: [count, ...handlers] };
}

export const jobDocument = (operations: readonly Operation[], version: string): OpenApiDocument =>
  openApiDocument(
    {
      title: "Sluice: jobs",
      version,
      description:
        "Create, take, finish and look at jobs of the general queue.\n\nEvery caller shows `Authorization: Bearer TOKEN`; a token is bound to " +
        "tenants. The commands speak the words of Bedrock::Jobs: a refusal's detail, and the header `Job-Status`, are its own. " +
        "Errors are `application/problem+json` (RFC 9457); `X-Request-Id` of the answer finds it in our logs.",
      groups: {
        Commands: "The commands of Bedrock::Jobs, one request each.",
        Queue: "Tenants, types, jobs, ended runs, shards.",
        Workers: "Taking jobs of several tenants by turns, renewing them, giving them back.",
        Handlers: "What is run for the jobs of a type.",
        etcd: "Container jobs and workers, as the etcd document has them.",
        Serverless: "Payloads by lines and handlers, as the serverless document has them.",
      },
    },
    operations,
  );
