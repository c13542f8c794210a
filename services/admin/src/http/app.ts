/** The operators' API behind its wall, its documentation before it. */
import type { Authenticator } from "@sluice/access";
import {
  addOperations,
  createApp,
  type Forbidden,
  makeGuesses,
  openApiDocument,
  type OpenApiDocument,
  type Operation,
  ownPagesOnly,
  serveDocs,
  wall,
  type WallOptions,
} from "@sluice/http-api";
import type { Express, IRouter } from "express";
import { actionOperations } from "./action-operations.ts";
import { auditOperations } from "./audit-operations.ts";
import { batchOperations } from "./batch-operations.ts";
import { bulkOperations } from "./bulk-operations.ts";
import { counted } from "./counted.ts";
import type { AdminDeps } from "./deps.ts";
import { fleetOperations } from "./fleet-operations.ts";
import { forwardToQueue, QUEUE_PREFIX } from "./forward-queue.ts";
import { jobOperations } from "./job-operations.ts";
import { logOperations } from "./log-operations.ts";
import { addLogin, type LoginParts } from "./login.ts";
import { mailOperations } from "./mail-operations.ts";
import type { Sessions } from "./sessions.ts";
import { ownScheduleOperations } from "./own-schedule-operations.ts";
import { tokenOperations } from "./token-operations.ts";
import { treeOperations } from "./tree-operations.ts";
import { youOperations } from "./you-operations.ts";

export interface AppParts {
  readonly deps: AdminDeps;
  readonly authenticator: Authenticator;
  readonly sessions: Sessions;
  readonly limits: Pick<WallOptions, "callsPerMinute" | "bodyBytesPerCaller" | "hosts">;
  /** Whose X-Forwarded-For and X-Forwarded-Proto are believed. */
  readonly trustedProxies: readonly string[];
  /** Where the general job queue is; null: nowhere. */
  readonly jobApiUrl: string | null;
  /** Pages: they need no caller. */
  readonly pages: (router: IRouter) => void;
}

export const adminOperations = (deps: AdminDeps): readonly Operation[] => [
  ...youOperations(deps),
  ...ownScheduleOperations(deps),
  ...fleetOperations(deps),
  ...batchOperations(deps),
  ...jobOperations(deps),
  ...actionOperations(deps),
  ...bulkOperations(deps),
  ...auditOperations(deps),
  ...tokenOperations(deps),
  ...treeOperations(deps),
  ...logOperations(deps),
  ...mailOperations(deps),
];

export function adminApp(parts: AppParts): Express {
  const { deps, authenticator, sessions, limits, trustedProxies, jobApiUrl, pages } = parts;
  const { log, metrics } = deps;
  const operations = adminOperations(deps);
  const onError = (error: unknown, requestId: string): void =>
    log.error({ err: error, request_id: requestId }, "a request failed");
  const onForbidden = ({ requestId, ...what }: Forbidden): void =>
    log.warn({ ...what, request_id: requestId }, "a request was refused: its caller may not do that");
  return createApp({ onError, onForbidden, trustedProxies }, (app) => {
    serveDocs(app, adminDocument(operations, deps.settings.version));
    const onRefused = (): void => metrics.refused.inc();
    const guesses = makeGuesses();
    const onLogin: LoginParts["onLogin"] = ({ id, name, role }, from) =>
      log.info({ caller: id, name, role, from }, "logged in");
    addLogin(app, { authenticator, sessions, ownPagesOnly: ownPagesOnly(limits.hosts), guesses, onLogin, onRefused });
    pages(app);
    app.use("/v1", ...wall({ authenticator, sessions, guesses, onRefused, ...limits }));
    addOperations(
      app,
      operations.map((each) => counted(each, metrics, deps.clock)),
    );
    const onAnswered = (status: number): void => metrics.requests.inc({ operation: "queue", status: String(status) });
    app.use(QUEUE_PREFIX, forwardToQueue({ baseUrl: jobApiUrl, onAnswered }));
  });
}

export const adminDocument = (operations: readonly Operation[], version: string): OpenApiDocument =>
  openApiDocument(
    {
      title: "Sluice: operators",
      version,
      description:
        "Look at the fleet, its batches and jobs; hold, release, resume, fail, delete; one or many.\n\nEvery caller shows " +
        "`Authorization: Bearer TOKEN`. Times are RFC 3339 in UTC. Errors are `application/problem+json` (RFC 9457); `X-Request-Id` of the " +
        "answer finds it in our logs. Every change has a reason, and stands in the audit.",
      groups: {
        You: "Who asks, and the tables that states and actions come from.",
        Fleet: "Stages, workers, the queue as a whole.",
        Collections: "Whose deposits they are.",
        Batches: "A batch is what was submitted at once.",
        Jobs: "A job brings one object into the store and the inventory.",
        Audit: "Every change, in a chain of hashes.",
        Tree: "The queue's own nodes.",
        Tokens: "Who may come in.",
        Mails: "What depositors were told.",
      },
    },
    operations,
  );
