/** Starting jest, for `npm test` and `npm run robustness`. */
import { run, TOOLS } from "./steps.mjs";

/** Resolves to its exit code. Expects that everything is built. */
export async function jest(args, env = {}) {
  const { code } = await run(
    process.execPath,
    [
      "--experimental-vm-modules",
      "--disable-warning=ExperimentalWarning",
      TOOLS.jest,
      ...args,
      // Last, because jest takes every word behind it for another reporter.
      "--reporters=default",
      "--reporters=<rootDir>/tools/run/jest-summary.mjs",
    ],
    { show: true, env: { ...process.env, SLUICE_BUILT: "1", ...env } },
  );
  return code;
}
