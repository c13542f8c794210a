/** The service as its duties and its servers. */
import type { ServiceOptions } from "@sluice/stage-runtime";
import type { AdminConfig } from "./config.ts";
import { type Outside, serveFleet } from "./serve-fleet.ts";

export const adminService = (config: AdminConfig, outside: Outside): ServiceOptions => ({
  service: "admin",
  config,
  duties: [],
  extraServers: (parts) => serveFleet(config, outside, parts),
  close: async () => await outside.close?.(),
});
