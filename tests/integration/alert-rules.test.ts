/** promtool over what we ship: the configuration, and the tests of every alert. */
import { describe, expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findPromtool, skipUnless } from "@sluice/local-parts";
import { DEPLOY } from "../support/prometheus.ts";

const tool = await findPromtool();
const SHIPPED = join(DEPLOY, "prometheus");

/** What it says when something is wrong; "" when nothing is. */
async function promtool(...args: readonly string[]): Promise<string> {
  if (!("path" in tool)) throw new Error(tool.skip);
  return await promisify(execFile)(tool.path, [...args]).then(
    () => "",
    (error: unknown) => said(error, "stdout") + said(error, "stderr") || String(error),
  );
}

const said = (error: unknown, stream: "stdout" | "stderr"): string =>
  error instanceof Error && stream in error ? String((error as unknown as Record<typeof stream, unknown>)[stream]) : "";

const textsIn = async (folder: string): Promise<string> => {
  const names = await readdir(join(SHIPPED, folder));
  return (await Promise.all(names.map((name) => readFile(join(SHIPPED, folder, name), "utf8")))).join("\n");
};
const namesIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, name = ""]) => name).sort();

describe("the rules for Prometheus", () => {
  const given = skipUnless(test, tool);

  given("are valid, and so is the scrape configuration", async () => {
    expect(await promtool("check", "config", join(SHIPPED, "prometheus.yml"))).toBe("");
  });

  given("fire and stay silent as their tests say", async () => {
    const tests = (await readdir(join(SHIPPED, "tests"))).map((name) => join(SHIPPED, "tests", name));
    expect(tests.length).toBeGreaterThan(0);
    expect(await promtool("test", "rules", ...tests)).toBe("");
  });

  test("have for each alert a test that fires and one that stays silent", async () => {
    const alerts = namesIn(await textsIn("rules"), /^ +- alert: (\w+)$/gm);
    const tests = await textsIn("tests");
    expect(alerts.length).toBeGreaterThan(20);
    expect(namesIn(tests, /^ +- name: "?(\w+) fires"?$/gm)).toEqual(alerts);
    expect(namesIn(tests, /^ +- name: "?(\w+) stays silent: /gm)).toEqual(alerts);
  });
});
