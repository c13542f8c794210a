/**
 * The metrics of single services. Nobody imports a service, so their built modules are looked at: whatever they export
 * that reads like a row of a catalogue is one.
 */
import { readdir } from "node:fs/promises";

export interface MetricRow {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

export interface ServiceMetrics {
  readonly service: string;
  readonly rows: readonly MetricRow[];
}

/** Where services describe their metrics; a test holds every name in their sources against the page. */
const MODULES = ["metrics.js", "gauges.js"];

export async function metricsOfServices(services: URL): Promise<readonly ServiceMetrics[]> {
  const names = (await readdir(services)).sort();
  const found = await Promise.all(
    names.map(async (service) => ({ service, rows: await metricsIn(new URL(`${service}/dist/`, services)) })),
  );
  return found.filter(({ rows }) => rows.length > 0);
}

async function metricsIn(dist: URL): Promise<readonly MetricRow[]> {
  const files = await readdir(dist).catch((): string[] => []);
  const modules = await Promise.all(
    MODULES.filter((name) => files.includes(name)).map(
      async (name) => (await import(new URL(name, dist).href)) as Readonly<Record<string, unknown>>,
    ),
  );
  return modules.flatMap((module) => Object.values(module).flatMap(rowsOfCatalogue));
}

export function rowsOfCatalogue(exported: unknown): readonly MetricRow[] {
  if (typeof exported !== "object" || exported === null) return [];
  return Object.values(exported).flatMap((row: unknown) => metricRow(row) ?? []);
}

function metricRow(row: unknown): MetricRow | null {
  if (typeof row !== "object" || row === null) return null;
  const { name, help, labels, type } = row as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || typeof help !== "string" || !Array.isArray(labels)) return null;
  // What is computed at scrape is always a gauge, and its catalogue does not say so.
  return { name, help, labels: labels.map(String), type: typeof type === "string" ? type : "gauge" };
}
