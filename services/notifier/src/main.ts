import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { notifierService } from "./notifier-service.ts";

await runService(notifierService(loadConfig(process.env)));
