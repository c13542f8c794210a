import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { processorService } from "./processor-service.ts";

await runService(await processorService(loadConfig(process.env)));
