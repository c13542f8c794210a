import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { estimatorService } from "./estimator-service.ts";

await runService(await estimatorService(loadConfig(process.env)));
