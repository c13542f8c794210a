/** Ports for servers that are started a moment later, by several processes at once. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { freePort } from "../src/index.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const ASK = `
  const { freePort } = await import("./packages/local-parts/dist/index.js");
  console.log(JSON.stringify(await Promise.all(Array.from({ length: 200 }, freePort))));`;

const askedElsewhere = async (): Promise<readonly number[]> => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", ASK], { cwd: ROOT });
  return JSON.parse(stdout) as readonly number[];
};

test("nobody is given a port that another one was given and has not opened yet", async () => {
  const [here, ...elsewhere] = await Promise.all([
    Promise.all(Array.from({ length: 200 }, freePort)),
    askedElsewhere(),
    askedElsewhere(),
  ]);
  const all = [...here, ...elsewhere.flat()];
  expect(all).toHaveLength(600);
  expect(new Set(all).size).toBe(600);
});
