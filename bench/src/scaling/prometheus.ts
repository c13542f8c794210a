/** A real Prometheus with the scrape configuration that we ship, as much faster as the rest of the run. */
import { findPrometheus, startPrometheus } from "@sluice/local-parts";
import { renameSync, writeFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SHIPPED = fileURLToPath(new URL("../../../deploy/prometheus/prometheus.yml", import.meta.url));
const SHIPPED_INTERVAL_S = 15;

export interface Answers {
  /** Of a query with one answer; null: none, or Prometheus does not answer. */
  value(query: string): Promise<number | null>;
  byStage(query: string): Promise<ReadonlyMap<string, number>>;
}

export interface ScrapingPrometheus extends Answers {
  /** host:port of each process. They count as the pods of one namespace. */
  watch(targets: readonly string[]): void;
  stop(): Promise<void>;
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export async function startScraping(
  folder: string,
  namespace: string,
  hasteFactor: number,
): Promise<ScrapingPrometheus> {
  const tool = await findPrometheus();
  if ("skip" in tool) throw new Error(tool.skip);
  const shipped = await readFile(SHIPPED, "utf8");
  const interval = `_interval: ${(SHIPPED_INTERVAL_S / hasteFactor) * 1_000}ms`;
  await mkdir(join(folder, "targets"), { recursive: true });
  await writeFile(
    join(folder, "prometheus.yml"),
    shipped.replaceAll(/(?<=scrape|evaluation|refresh)_interval: \d+s/g, interval),
  );
  const file = join(folder, "targets", "fleet.json");
  const server = await startPrometheus(tool.path, join(folder, "prometheus.yml"));
  const ask = async (query: string): Promise<readonly Sample[]> => {
    const answer = await fetch(`${server.url}/api/v1/query?query=${encodeURIComponent(query)}`).catch(() => null);
    if (answer?.ok !== true) return [];
    return ((await answer.json()) as { readonly data: { readonly result: readonly Sample[] } }).data.result;
  };
  return {
    value: async (query) => {
      const [sample] = await ask(query);
      return sample === undefined ? null : Number(sample.value[1]);
    },
    byStage: async (query) =>
      new Map((await ask(query)).map(({ metric, value }) => [metric["stage"] ?? "", Number(value[1])])),
    watch: (targets) => {
      // In one step, since half a file would be no targets at all, and before the next one.
      writeFileSync(`${file}.new`, JSON.stringify([{ targets, labels: { namespace } }]));
      renameSync(`${file}.new`, file);
    },
    stop: () => server.stop(),
  };
}
