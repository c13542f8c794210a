/**
 * `npm test`: everything that must hold before a change is merged. Arguments go to jest: `npm test -- packages/queue-core`.
 * The checks run beside the tests, in the time that these leave: a test waits often, for a server or a session.
 */
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { install } from "./install.mjs";
import { jest } from "./jest.mjs";
import { build, ROOT, say, secondsSince, step, TOOLS } from "./steps.mjs";

const node = process.execPath;
/** What tests need of the machine (local-parts' table of parts). Docker is not among them: its tests say so and skip. */
const PARTS = ["zookeeper", "mariadb", "prometheus", "chromium", "openssl", "bzip2", "php"];

const CHECKS = [
  ["types", [TOOLS.tsc, "--noEmit", "-p", "tsconfig.json"]],
  ["types of the console", [TOOLS.tsc, "-p", "services/admin/console"]],
  ["generated documents are up to date", ["tools/docs/dist/main.js", "--check"]],
  ["format", [TOOLS.prettier, "--check", ".", "--log-level", "warn", "--cache"]],
  ["lint", [TOOLS.eslint, ".", "--max-warnings", "0", "--cache", "--cache-location", "node_modules/.cache/eslint/"]],
];

/** All in one transaction of apt, before the first test: two test files that install at once wait for each other. */
async function installParts() {
  const { installParts } = await import(pathToFileURL(join(ROOT, "packages/local-parts/dist/index.js")).href);
  const begun = performance.now();
  const installed = await installParts(PARTS, say);
  // No failure here: where there is no apt, a part may be found elsewhere, or its tests skip and say why.
  if (!installed.ok) say(`not all parts are installed: ${installed.reason}`);
  else say(`ok      parts of the machine (${secondsSince(begun)})`);
}

async function check() {
  const failed = [];
  for (const [name, args] of CHECKS) if ((await step(name, node, args, { polite: true })) !== 0) failed.push(name);
  return failed;
}

const begun = performance.now();
await install();
const built = await build();
if (built !== 0) process.exit(built);
await installParts();

const [failedChecks, code] = await Promise.all([check(), jest(process.argv.slice(2))]);
for (const name of failedChecks) say(`FAILED  ${name}: its output stands above`);
if (code !== 0) say(`FAILED  tests (exit code ${code})`);
say(`npm test took ${secondsSince(begun)}`);
process.exit(code === 0 && failedChecks.length > 0 ? 1 : code);
