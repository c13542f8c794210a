import { addOperations, createApp, problem, sendProblem, serveDocs, wall } from "@sluice/http-api";
import type { Express, RequestHandler } from "express";
import { intakeDocument, intakeOperations } from "./api.ts";
import type { HttpDeps } from "./deps.ts";

export function makeApp(deps: HttpDeps): Express {
  const onError = (error: unknown, requestId: string): void =>
    deps.log.error({ err: error, request_id: requestId }, "a request failed");
  const operations = intakeOperations(deps);
  return createApp({ onError }, (app) => {
    // Anybody may link to the documentation.
    serveDocs(app, intakeDocument(operations, deps.version));
    app.use(ownPagesOnly);
    app.use(...wall(deps.wall));
    addOperations(app, operations);
  });
}

/**
 * Neither loopback nor credentials that a browser remembers are a wall against a page in the browser of whoever works on
 * this machine: browsers say who is asking.
 */
const ownPagesOnly: RequestHandler = (req, res, next) => {
  const site = req.get("Sec-Fetch-Site") ?? "none";
  if (site === "none" || site === "same-origin") next();
  else sendProblem(res, problem("FORBIDDEN", "pages of other sites may not ask"));
};
