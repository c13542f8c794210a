/** The rules that promtool tests, as the object that the Prometheus operator takes them in. */
import { readdir, readFile } from "node:fs/promises";
import { parse, stringify } from "yaml";
import { z } from "zod";

const RuleFile = z.object({ groups: z.array(z.looseObject({ name: z.string() })) });

const HEAD = `# Generated from deploy/prometheus/rules by \`npm run docs\`. Do not edit.\n`;

export async function printPrometheusRule(folder: URL): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".yml")).sort();
  const files = await Promise.all(names.map((name) => readFile(new URL(name, folder), "utf8")));
  const groups = files.flatMap((text) => RuleFile.parse(parse(text)).groups);
  const object = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "sluice" },
    spec: { groups },
  };
  return HEAD + stringify(object, { lineWidth: 0 });
}
