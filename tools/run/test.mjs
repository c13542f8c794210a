/**
 * `npm test`: everything that must hold before a change is merged. Stops at the first failure with its exit code.
 * Arguments go to jest: `npm test -- packages/queue-core`.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { install } from "./install.mjs";
import { build, ROOT, run, say, step, TOOLS } from "./steps.mjs";

const DOCS = "tools/docs/dist/main.js";
const node = process.execPath;
/** More than that is no accident of a busy machine. */
const SECOND_CHANCES = 3;

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

const code = await secondChance(await jest(process.argv.slice(2)));
if (code !== 0) say(`FAILED  tests (exit code ${code})`);
process.exit(code);

async function jest(args) {
  const folder = await mkdtemp(join(tmpdir(), "sluice-tests-"));
  const file = join(folder, "failed.json");
  const { code } = await run(
    node,
    [
      "--experimental-vm-modules",
      "--disable-warning=ExperimentalWarning",
      TOOLS.jest,
      ...args,
      // Last, because jest takes every word behind it for another reporter.
      "--reporters=default",
      "--reporters=<rootDir>/tools/run/jest-count.mjs",
    ],
    { show: true, env: { ...process.env, FAILED_FILES: file } },
  );
  const failed = existsSync(file) ? JSON.parse(await readFile(file, "utf8")) : { files: [], brokenInvariant: false };
  await rm(folder, { recursive: true, force: true });
  return { code, ...failed };
}

/** docs/adr/0029: a few files that failed beside others run once more, alone. A broken invariant is never forgiven. */
async function secondChance({ code, files, brokenInvariant }) {
  if (code === 0 || brokenInvariant || files.length === 0 || files.length > SECOND_CHANCES) return code;
  say(`AGAIN   ${files.length} failed; once more, alone: ${files.map((file) => relative(ROOT, file)).join(", ")}`);
  const again = await jest(["--runInBand", "--runTestsByPath", ...files]);
  if (again.code !== 0) return again.code;
  for (const file of files) say(`UNSTEADY  ${relative(ROOT, file)} failed beside others and passed alone: look at it`);
  return 0;
}
