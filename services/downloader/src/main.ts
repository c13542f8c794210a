import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { downloaderService } from "./downloader-service.ts";

await runService(await downloaderService(loadConfig(process.env)));
