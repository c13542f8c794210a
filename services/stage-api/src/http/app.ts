/** The stage API over HTTP: behind its wall, its documentation before it. */
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
import type { Log } from "@sluice/stage-runtime";
import type { Express, RequestHandler } from "express";
import type { StageApiMetrics } from "../metrics.ts";
import { claimOperations } from "./claim-operations.ts";
import type { StageApiDeps } from "./deps.ts";
import { stageOperation } from "./stage-operation.ts";
import { takeOperation } from "./take-operation.ts";

export interface AppParts {
  readonly deps: StageApiDeps;
  readonly wall: Omit<WallOptions, "onRefused">;
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly metrics: Pick<StageApiMetrics, "requests" | "refused">;
  readonly log: Log;
  readonly version: string;
}

export function stageApp({ deps, wall: options, trustedProxies, metrics, log, version }: AppParts): Express {
  const operations = [stageOperation(deps), takeOperation(deps), ...claimOperations(deps)];
  const onError = (error: unknown, requestId: string): void =>
    log.error({ err: error, request_id: requestId }, "a request failed");
  const onForbidden = ({ requestId, ...what }: Forbidden): void =>
    log.warn({ ...what, request_id: requestId }, "a request was refused: its caller may not do that");
  return createApp({ onError, onForbidden, trustedProxies }, (app) => {
    serveDocs(app, stageDocument(operations, version));
    app.use(...wall({ ...options, onRefused: () => metrics.refused.inc() }));
    addOperations(
      app,
      operations.map((each) => counted(each, metrics)),
    );
  });
}

function counted({ spec, handlers }: Operation, { requests }: AppParts["metrics"]): Operation {
  const count: RequestHandler = (_request, response, next) => {
    response.on("finish", () => requests.inc({ operation: spec.id, status: String(response.statusCode) }));
    next();
  };
  return { spec, handlers: [count, ...handlers] };
}

const stageDocument = (operations: readonly Operation[], version: string): OpenApiDocument =>
  openApiDocument(
    {
      title: "Sluice: stages",
      version,
      description:
        "Work the jobs of one stage from any language: take a claim, keep it, say what became of it.\n\nEvery caller shows " +
        "`Authorization: Bearer TOKEN`; a token is for the stages that it names. A claim is exclusive. It ends with your word, with its lease, or with " +
        "the stage-api that holds it: from then on calls about it are answered with 410 (CLAIM_LOST), and another worker has the job. Each word may be repeated " +
        "until it is answered: `repeated` says that it had counted before. Errors are `application/problem+json` (RFC 9457).",
      groups: {
        Stage: "The queue of the stage.",
        Claims: "Taking jobs and keeping them.",
        Outcomes:
          "What became of a job. The fleet decides what that means: states, attempts and delays are its affair.",
      },
    },
    operations,
  );
