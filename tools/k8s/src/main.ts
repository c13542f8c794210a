/** Writes what of k8s/ is generated. */
import { writeFile } from "node:fs/promises";
import { printPrometheusRule } from "./prometheus-rule.ts";

const root = new URL("../../../", import.meta.url);
const text = await printPrometheusRule(new URL("deploy/prometheus/rules/", root));
await writeFile(new URL("k8s/components/monitoring/rules.yaml", root), text);
