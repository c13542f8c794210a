#!/usr/bin/env node
/** Runs what was built; in a fresh checkout it is built first. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const main = at("../dist/main.js");

if (!existsSync(main)) {
  const tsc = at("../../../node_modules/typescript-native/bin/tsc");
  process.stderr.write("sluice: not built yet; building\n");
  const built = existsSync(tsc)
    ? spawnSync(process.execPath, [tsc, "-b", at("../tsconfig.build.json")], { stdio: ["ignore", 2, 2] }).status
    : 1;
  if (built !== 0) {
    process.stderr.write("sluice: it could not be built; run `npm run build` at the top of the checkout\n");
    process.exit(1);
  }
}
await import(new URL("../dist/main.js", import.meta.url).href);
