import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { provisionerService } from "./provisioner-service.ts";

await runService(await provisionerService(loadConfig(process.env)));
