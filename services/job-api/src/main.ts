import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { jobApiService } from "./job-api-service.ts";

await runService(jobApiService(loadConfig(process.env)));
