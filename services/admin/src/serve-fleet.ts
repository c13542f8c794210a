import type { ExtraServer, ServiceParts } from "@sluice/stage-runtime";
import { adminApp } from "./app.ts";
import type { AdminConfig } from "./config.ts";
import { exportFleet } from "./gauges.ts";
import { httpServer } from "./http-server.ts";
import { makeSurveyor } from "./surveyor.ts";

type Settings = Pick<AdminConfig, "HOST" | "PORT" | "SURVEY_MAX_AGE_MS" | "SHUTDOWN_GRACE_MS">;

/** Gauges at the metrics port, page and API at their own: all from one look at the fleet. */
export function serveFleet(config: Settings, { queue, clock, registry, log }: ServiceParts): ExtraServer {
  const surveyor = makeSurveyor(queue, clock, config.SURVEY_MAX_AGE_MS);
  exportFleet(registry, surveyor);
  const app = adminApp(surveyor, (error, requestId) => log.error({ err: error, requestId }, "a request failed"));
  return httpServer(app, { host: config.HOST, port: config.PORT, graceMs: config.SHUTDOWN_GRACE_MS, log });
}
