/** Builds what goes into images, in the build stage: services, command, catcher, the writer of SBOMs. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";

const PARTS = [
  ...readdirSync("services").map((name) => `services/${name}`),
  "packages/cli",
  "tools/mail-catcher",
  "tools/images",
];
const run = (...args) => execFileSync(process.execPath, args, { stdio: "inherit" });

run("node_modules/typescript-native/bin/tsc", "-b", ...PARTS.map((part) => `${part}/tsconfig.build.json`));
run("services/admin/console/build.mjs");
