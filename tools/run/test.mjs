/**
 * `npm test`: everything that must hold before a change is merged. Stops at the first failure with its exit code.
 * Arguments go to jest: `npm test -- packages/queue-core`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { install } from "./install.mjs";
import { build, ROOT, run, say, step, TOOLS } from "./steps.mjs";

const DOCS = "tools/docs/dist/main.js";
const node = process.execPath;

/** Two at a time: enough for two cores, and their output stays apart. */
async function both(...steps) {
  const codes = await Promise.all(steps.map((start) => start()));
  const failed = codes.find((code) => code !== 0);
  if (failed !== undefined) process.exit(failed);
}

const format = () => step("format", node, [TOOLS.prettier, "--check", ".", "--log-level", "warn", "--cache"]);
const types = () => step("types", node, [TOOLS.tsc, "--noEmit", "-p", "tsconfig.json"]);
const consoleTypes = () => step("types of the console", node, [TOOLS.tsc, "-p", "services/admin/console"]);
const lint = () =>
  step("lint", node, [
    TOOLS.eslint,
    ".",
    "--max-warnings",
    "0",
    "--cache",
    "--cache-location",
    "node_modules/.cache/eslint/",
  ]);
const docs = () => step("generated documents are up to date", node, [DOCS, "--check"]);

await install();
await both(build, format);
await both(async () => (await types()) || (await consoleTypes()), lint);
if (existsSync(join(ROOT, DOCS))) await both(docs);

const { code } = await run(
  node,
  [
    "--experimental-vm-modules",
    "--disable-warning=ExperimentalWarning",
    TOOLS.jest,
    ...process.argv.slice(2),
    // Last, because jest takes every word behind it for another reporter.
    "--reporters=default",
    "--reporters=<rootDir>/tools/run/jest-count.mjs",
  ],
  { show: true },
);
if (code !== 0) say(`FAILED  tests (exit code ${code})`);
process.exit(code);
