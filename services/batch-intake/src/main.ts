import { runService } from "@sluice/stage-runtime";
import { systemClock } from "@sluice/zookeeper";
import { loadConfig } from "./config.ts";
import { openIntake } from "./open-intake.ts";

await runService(await openIntake(loadConfig(process.env), systemClock));
