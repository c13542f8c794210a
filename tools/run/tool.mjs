/** `node tools/run/tool.mjs images/dist/build/main.js …`: a tool of ours, on a checkout where nothing is installed or built yet. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { install } from "./install.mjs";
import { build, ROOT } from "./steps.mjs";

const [, , script] = process.argv;
const [tool] = script.split("/");

await install();
const code = await build(`tools/${tool}/tsconfig.build.json`);
if (code !== 0) process.exit(code);
process.setSourceMapsEnabled(true);
const main = join(ROOT, "tools", script);
process.argv.splice(1, 2, main);
await import(pathToFileURL(main).href);
