/** A real Prometheus with the rules and the scrape configuration that we ship, quick enough for a test. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPrometheus } from "@sluice/local-parts";

export const DEPLOY = fileURLToPath(new URL("../../deploy/", import.meta.url));
const SHIPPED = join(DEPLOY, "prometheus");

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
}

export interface Rule {
  readonly type: "recording" | "alerting";
  readonly name: string;
  readonly query: string;
  readonly health: string;
  readonly lastError?: string;
}

export interface TestPrometheus {
  /** Throws with Prometheus's own words if the expression is none. */
  query(expression: string): Promise<readonly Sample[]>;
  alerts(): Promise<readonly Alert[]>;
  rules(): Promise<readonly Rule[]>;
  stop(): Promise<void>;
}

export interface Shipped {
  /** host:port of each process. */
  readonly targets: readonly string[];
  /** Alerts that fire as soon as their expression holds. */
  readonly atOnce: readonly string[];
}

/** As shipped but for times: nobody waits for a quarter of an hour in a test. */
export async function prometheusOver(command: string, { targets, atOnce }: Shipped): Promise<TestPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-observed-"));
  await cp(join(SHIPPED, "rules"), join(folder, "rules"), { recursive: true });
  for (const name of await readdir(join(folder, "rules"))) {
    const file = join(folder, "rules", name);
    await writeFile(file, withoutWaiting(await readFile(file, "utf8"), atOnce));
  }
  const configuration = await readFile(join(SHIPPED, "prometheus.yml"), "utf8");
  await writeFile(join(folder, "prometheus.yml"), configuration.replaceAll(/_interval: \d+s/g, "_interval: 1s"));
  await mkdir(join(folder, "targets"));
  await writeFile(join(folder, "targets", "test.yml"), JSON.stringify([{ targets }]));
  const server = await startPrometheus(command, join(folder, "prometheus.yml"));
  const ask = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`${server.url}/api/v1/${path}`);
    const body = (await answer.json()) as { readonly status: string; readonly data: T; readonly error?: string };
    if (body.status !== "success") throw new Error(`${path}: ${body.error ?? answer.status}`);
    return body.data;
  };
  return {
    query: async (expression) =>
      (await ask<{ result: readonly Sample[] }>(`query?query=${encodeURIComponent(expression)}`)).result,
    alerts: async () => (await ask<{ alerts: readonly Alert[] }>("alerts")).alerts,
    rules: async () => {
      const { groups } = await ask<{ groups: readonly { rules: readonly Rule[] }[] }>("rules");
      return groups.flatMap(({ rules }) => rules);
    },
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function withoutWaiting(rules: string, alerts: readonly string[]): string {
  return alerts.reduce(
    (text, alert) => text.replace(new RegExp(`(- alert: ${alert}\\n(?:(?!- alert)[^])*?for: )\\w+`), "$10s"),
    rules,
  );
}
