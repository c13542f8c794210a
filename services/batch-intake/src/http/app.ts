import { addOperations, createApp, type Forbidden, serveDocs, wall } from "@sluice/http-api";
import type { Express } from "express";
import { intakeDocument, intakeOperations } from "./api.ts";
import type { HttpDeps } from "./deps.ts";
import { serveState } from "./merritt/serve-state.ts";

export function makeApp(deps: HttpDeps): Express {
  const onError = (error: unknown, requestId: string): void =>
    deps.log.error({ err: error, request_id: requestId }, "a request failed");
  const onForbidden = ({ requestId, ...what }: Forbidden): void =>
    deps.log.warn({ ...what, request_id: requestId }, "a request was refused: its caller may not do that");
  const operations = intakeOperations(deps);
  return createApp({ onError, onForbidden, trustedProxies: deps.trustedProxies }, (app) => {
    // Anybody may link to the documentation.
    serveDocs(app, intakeDocument(operations, deps.version));
    // Monitors have no token.
    serveState(app, deps);
    app.use(...wall(deps.wall));
    addOperations(app, operations);
  });
}
