import { addOperations, createApp, serveDocs, wall } from "@sluice/http-api";
import type { Express } from "express";
import { intakeDocument, intakeOperations } from "./api.ts";
import type { HttpDeps } from "./deps.ts";

export function makeApp(deps: HttpDeps): Express {
  const onError = (error: unknown, requestId: string): void =>
    deps.log.error({ err: error, request_id: requestId }, "a request failed");
  const operations = intakeOperations(deps);
  return createApp({ onError, trustedProxies: deps.trustedProxies }, (app) => {
    // Anybody may link to the documentation.
    serveDocs(app, intakeDocument(operations, deps.version));
    app.use(...wall(deps.wall));
    addOperations(app, operations);
  });
}
