import express, { type Express } from "express";
import type { HttpDeps } from "./deps.ts";
import { posterRoutes } from "./poster-routes.ts";
import { problemHandler, sendProblem } from "./problem.ts";
import { v1Routes } from "./v1-routes.ts";

export function makeApp(deps: HttpDeps): Express {
  const app = express();
  app.disable("x-powered-by");
  app.use("/poster", posterRoutes(deps));
  app.use("/v1", v1Routes(deps));
  app.use((req, res) =>
    sendProblem(req, res, { code: "NOT_FOUND", detail: `${req.method} ${req.path} is not served` }),
  );
  app.use(problemHandler((error) => deps.log.error({ err: error }, "a request failed")));
  return app;
}
