/**
 * The metrics of single services. Nobody imports a service, so their built modules are looked at: whatever they export
 * that reads like a row of a catalogue is one.
 */
import { readdir } from "node:fs/promises";
import { basename } from "node:path";

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

/** Where services describe their metrics, in whichever folder; a test holds every name in their sources against the page. */
const MODULES = ["metrics.js", "gauges.js"];
/** The console is built beside the modules, for browsers. */
const NOT_MODULES = "console";

export async function metricsOfServices(services: URL): Promise<readonly ServiceMetrics[]> {
  const names = (await readdir(services)).sort();
  const found = await Promise.all(
    names.map(async (service) => ({ service, rows: await metricsIn(new URL(`${service}/dist/`, services)) })),
  );
  return found.filter(({ rows }) => rows.length > 0);
}

async function metricsIn(dist: URL): Promise<readonly MetricRow[]> {
  const files = await readdir(dist, { recursive: true }).catch((): string[] => []);
  const described = files.filter((path) => MODULES.includes(basename(path)) && !path.startsWith(NOT_MODULES));
  const modules = await Promise.all(
    // The service's own first, then those of its folders: the order of a file system is none.
    [...described]
      .sort((a, b) => depthOf(a) - depthOf(b) || rankOf(a) - rankOf(b) || a.localeCompare(b))
      .map(async (path) => (await import(new URL(path, dist).href)) as Readonly<Record<string, unknown>>),
  );
  return modules.flatMap((module) => Object.values(module).flatMap(rowsOfCatalogue));
}

const depthOf = (path: string): number => path.split("/").length;
const rankOf = (path: string): number => MODULES.indexOf(basename(path));

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
