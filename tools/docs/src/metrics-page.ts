/** docs/metrics.md: every metric of ours, from the catalogues that the registries are made of. */
import { CATALOGUE } from "@sluice/stage-runtime";
import { generatedFrom, table } from "./markdown.ts";
import type { ServiceMetrics, MetricRow } from "./service-metrics.ts";

export function describeMetrics(services: readonly ServiceMetrics[]): string {
  const everywhere = Object.values(CATALOGUE);
  return [
    generatedFrom("packages/stage-runtime/src/observe/catalogue.ts and services/*/src"),
    "# Metrics",
    "",
    "Every process serves them at `http://METRICS_HOST:METRICS_PORT/metrics`. No id is ever a label: ids are in the logs. Besides",
    "these, every process exports prom-client's default metrics of Node (`process_*`, `nodejs_*`).",
    "",
    "## Of every process",
    "",
    ...rowsOf(everywhere.filter(({ exportedBy }) => exportedBy === "every process")),
    "",
    "## Of every worker",
    "",
    ...rowsOf(everywhere.filter(({ exportedBy }) => exportedBy === "each worker")),
    "",
    ...sharedFirst(services).flatMap(({ service, rows }) => [`## Of ${service}`, "", ...rowsOf(rows), ""]),
  ].join("\n");
}

/** A metric that several services export stands once, under all their names. */
function sharedFirst(services: readonly ServiceMetrics[]): readonly ServiceMetrics[] {
  const exporters = (name: string): string =>
    services
      .filter(({ rows }) => rows.some((row) => row.name === name))
      .map(({ service }) => service)
      .join(", ");
  const shared = new Map<string, MetricRow[]>();
  const own = services.map(({ service, rows }) => {
    const mine = rows.filter((row) => exporters(row.name) === service);
    for (const row of rows.filter((each) => !mine.includes(each))) {
      const group = shared.get(exporters(row.name)) ?? [];
      if (!group.some(({ name }) => name === row.name)) shared.set(exporters(row.name), [...group, row]);
    }
    return { service, rows: mine };
  });
  return [...[...shared].map(([service, rows]) => ({ service, rows })), ...own.filter(({ rows }) => rows.length > 0)];
}

const rowsOf = (rows: readonly MetricRow[]): readonly string[] =>
  table(
    ["Metric", "Type", "Labels", "Says"],
    rows.map(({ name, type, labels, help }) => [`\`${name}\``, type, labels.map((l) => `\`${l}\``).join(", "), help]),
  );
