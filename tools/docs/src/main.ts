/** Writes the generated pages of docs/, or with --check says which of them are stale. */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describeCli } from "@sluice/cli";
import { describeStates, describeZnodes } from "@sluice/queue-core";
import { describeErrors } from "./errors-page.ts";
import { describeMetrics } from "./metrics-page.ts";
import { metricsOfServices } from "./service-metrics.ts";

const root = new URL("../../../", import.meta.url);
const docs = fileURLToPath(new URL("docs/", root));
const pages: readonly (readonly [string, string])[] = [
  ["states.md", describeStates()],
  ["cli.md", describeCli()],
  ["znodes.md", describeZnodes()],
  ["errors.md", describeErrors()],
  ["metrics.md", describeMetrics(await metricsOfServices(new URL("services/", root)))],
];

const check = process.argv.includes("--check");
const stale: string[] = [];
for (const [name, text] of pages) {
  const before = await readFile(`${docs}${name}`, "utf8").catch(() => "");
  if (before === text) continue;
  if (check) stale.push(name);
  else await writeFile(`${docs}${name}`, text);
}
if (stale.length > 0) {
  console.error(`stale: docs/${stale.join(", docs/")}; run \`npm run build && npm run docs\``);
  process.exitCode = 1;
}
