/** data/fleet.json: where everything is, for people, scripts and tests. */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RoleTokens } from "@sluice/access";
import type { Instance } from "./instances.ts";
import { DOCUMENTED } from "./services.ts";

export interface FleetFile {
  readonly zookeeper: string;
  readonly services: Readonly<Record<string, string>>;
  /** Bedrock's protocol, host:port: `nc` with a space between the two. */
  readonly bedrock: string | null;
  /** Pages about the APIs. */
  readonly docs: Readonly<Record<string, string>>;
  /** Every process: pid of the supervisor's child changes with restarts, addresses do not. */
  readonly instances: Readonly<Record<string, string>>;
  /** For development: one for each role. */
  readonly tokens: RoleTokens;
}

export function fleetFile(zookeeper: string, instances: readonly Instance[], tokens: RoleTokens): FleetFile {
  const first = instances.filter(({ name, service }) => name === service);
  return {
    zookeeper,
    services: Object.fromEntries(first.map(({ service, url }) => [service, url])),
    bedrock: first.find(({ bedrock }) => bedrock !== null)?.bedrock ?? null,
    docs: Object.fromEntries(docsOf(first)),
    instances: Object.fromEntries(instances.map(({ name, metricsUrl }) => [name, metricsUrl])),
    tokens,
  };
}

const docsOf = (instances: readonly Instance[]): readonly (readonly [string, string])[] =>
  instances.filter(({ service }) => DOCUMENTED.includes(service)).map(({ service, url }) => [service, `${url}/docs`]);

export async function writeFleetFile(dataDir: string, file: FleetFile): Promise<void> {
  const path = join(dataDir, "fleet.json");
  await writeFile(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
}
