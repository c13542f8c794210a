import { spawnSync } from "node:child_process";

import { test } from "@jest/globals";

const isHere = spawnSync("bzip2", ["--help"]).error === undefined;
if (!isHere && process.env["SLUICE_FAIL_ON_SKIP"] === "1") throw new Error("a test would be skipped: no bzip2");
if (!isHere) process.stderr.write("skipped: there is no bzip2 on this machine\n");

/** `test`, where the real program is here. */
export const withBzip2 = isHere ? test : test.skip;

export function bzip2(data: Buffer, level = 9): Buffer {
  const run = spawnSync("bzip2", [`-${level}`, "-c"], { input: data, maxBuffer: 1e9 });
  if (run.status !== 0) throw new Error(run.stderr.toString());
  return run.stdout;
}
