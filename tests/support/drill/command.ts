/** The command `sluice` as people start it: a process of its own. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const SLUICE = fileURLToPath(new URL("../../../packages/cli/bin/sluice.mjs", import.meta.url));

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export const sluice = (cwd: string, ...args: readonly string[]): Promise<Said> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [SLUICE, ...args], { cwd, maxBuffer: 64_000_000 }, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
