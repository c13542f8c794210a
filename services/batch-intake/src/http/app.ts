import { createApp, problem, sendProblem } from "@sluice/http-api";
import type { Express, RequestHandler } from "express";
import type { HttpDeps } from "./deps.ts";
import { posterRoutes } from "./poster-routes.ts";
import { v1Routes } from "./v1-routes.ts";

export function makeApp(deps: HttpDeps): Express {
  const onError = (error: unknown, requestId: string): void =>
    deps.log.error({ err: error, request_id: requestId }, "a request failed");
  return createApp({ onError }, (app) => {
    app.use(ownPagesOnly);
    app.use("/poster", posterRoutes(deps));
    app.use("/v1", v1Routes(deps));
  });
}

/** Loopback is no wall against a page in the browser of whoever works on this machine: browsers say who is asking. */
const ownPagesOnly: RequestHandler = (req, res, next) => {
  const site = req.get("Sec-Fetch-Site") ?? "none";
  if (site === "none" || site === "same-origin") next();
  else sendProblem(res, problem("FORBIDDEN", "pages of other sites may not ask"));
};
