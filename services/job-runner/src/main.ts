import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { runnerService } from "./runner-service.ts";
import { findWalls } from "./sandbox/walls.ts";

const config = loadConfig(process.env);
const standing = await findWalls({ uid: config.NODE_UID, namespaces: config.NODE_HANDLERS !== "off" });

await runService(runnerService(config, { standing, random: Math.random }));
