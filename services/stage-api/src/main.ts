import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { stageApiService } from "./stage-api-service.ts";

await runService(stageApiService(loadConfig(process.env)));
