import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { reporterService } from "./reporter-service.ts";

await runService(reporterService(loadConfig(process.env)));
