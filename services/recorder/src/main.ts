import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { recorderService } from "./recorder-service.ts";

await runService(recorderService(loadConfig(process.env)));
