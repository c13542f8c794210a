/**
 * `npm start`: installs and builds what is missing, then becomes the fleet's supervisor. In the same process, so that
 * arguments, signals and the exit code need no go-between.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { install } from "./install.mjs";
import { build, ROOT } from "./steps.mjs";

const SUPERVISOR = join(ROOT, "dist/programs/fleet.js");

await install();
const code = await build();
if (code !== 0) process.exit(code);
process.setSourceMapsEnabled(true);
process.argv[1] = SUPERVISOR;
await import(pathToFileURL(SUPERVISOR).href);
