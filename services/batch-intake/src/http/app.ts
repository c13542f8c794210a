import { createApp } from "@sluice/http-api";
import type { Express } from "express";
import type { HttpDeps } from "./deps.ts";
import { posterRoutes } from "./poster-routes.ts";
import { v1Routes } from "./v1-routes.ts";

export function makeApp(deps: HttpDeps): Express {
  const onError = (error: unknown, requestId: string): void =>
    deps.log.error({ err: error, request_id: requestId }, "a request failed");
  return createApp({ onError }, (app) => {
    app.use("/poster", posterRoutes(deps));
    app.use("/v1", v1Routes(deps));
  });
}
