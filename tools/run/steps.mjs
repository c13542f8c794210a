/** Running a command as a named step: one line with its duration, its output only when it fails. */
import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** The script of an installed package, run by this very Node: no shell, no PATH. */
export const TOOLS = {
  tsc: "node_modules/typescript-native/bin/tsc",
  eslint: "node_modules/eslint/bin/eslint.js",
  prettier: "node_modules/prettier/bin/prettier.cjs",
  jest: "node_modules/jest/bin/jest.js",
};

/** Bundles the console; takes the endpoints from what the compiler has built. */
const CONSOLE = "services/admin/console/build.mjs";
/** Bundles each service and the supervisor of `npm start`, from their sources. */
const PROGRAMS = "tools/run/programs.mjs";

export function say(line) {
  process.stderr.write(`${line}\n`);
}

export const secondsSince = (begun) => `${((performance.now() - begun) / 1000).toFixed(1)} s`;

/** Resolves to the exit code. `polite`: the tests go first. */
export function run(command, args, { show = false, env = process.env, polite = false } = {}) {
  return new Promise((resolve) => {
    const output = [];
    const child = spawn(command, args, {
      cwd: ROOT,
      env,
      stdio: ["ignore", ...Array(2).fill(show ? "inherit" : "pipe")],
    });
    child.once("spawn", () => polite && setPriority(child.pid, POLITE));
    child.stdout?.on("data", (chunk) => output.push(chunk));
    child.stderr?.on("data", (chunk) => output.push(chunk));
    child.once("error", (error) => resolve({ code: 127, output: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(output).toString() }));
  });
}

/** Behind the tests, and still more than a trickle beside other programs on the machine. */
const POLITE = 5;

/** Exit code 0 and a line, or the command's own code and all it said. */
export async function step(name, command, args, options) {
  const begun = performance.now();
  const { code, output } = await run(command, args, options);
  const seconds = secondsSince(begun);
  say(code === 0 ? `ok      ${name} (${seconds})` : `FAILED  ${name} (${seconds})\n${output}`);
  return code;
}

/** `build` for `npm start`, `npm test` and a jest run by hand on a fresh checkout. */
export async function build(...projects) {
  const all = projects.length === 0;
  const code = await step("build", process.execPath, [TOOLS.tsc, "-b", ...(all ? ["tsconfig.build.json"] : projects)]);
  if (code !== 0 || !all) return code;
  const bundled = await step("programs", process.execPath, [PROGRAMS]);
  return bundled === 0 ? await step("console", process.execPath, [CONSOLE]) : bundled;
}
