import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { serveFleet } from "./serve-fleet.ts";

const config = loadConfig(process.env);

await runService({
  service: "admin",
  config,
  duties: [],
  extraServers: (parts) => [serveFleet(config, parts)],
});
