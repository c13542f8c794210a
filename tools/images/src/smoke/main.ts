/** `npm run smoke:compose`: a batch through a fleet of containers, from nothing; leaves nothing. */
import { parseArgs } from "node:util";
import { findDockerEngine } from "@sluice/local-parts";
import { withEngine } from "../engine.ts";
import { ROOT } from "../root.ts";
import { runSmoke } from "./run.ts";

const { values } = parseArgs({ options: { "no-build": { type: "boolean", default: false } } });
const say = (line: string): void => console.log(line);
const own = "skip" in (await findDockerEngine());
if (own) say("no Docker engine answers: starting one for this run");

await withEngine(own, say, (docker) => runSmoke({ root: ROOT, docker, build: !values["no-build"], say })).catch(
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
