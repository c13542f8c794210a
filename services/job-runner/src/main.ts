import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { runnerService } from "./runner-service.ts";
import { findInterpreters } from "./sandbox/interpreters.ts";
import { findWalls } from "./sandbox/walls.ts";

const config = loadConfig(process.env);
const standing = await findWalls({ uid: config.NODE_UID, namespaces: config.NODE_HANDLERS !== "off" });
const interpreters = await findInterpreters(config.INTERPRETERS);

await runService(runnerService(config, { standing, interpreters, random: Math.random }));
