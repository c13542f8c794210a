/** Where a smoke fleet has its doors: a free port for each, and the settings that follow from them. */
import { freePort } from "@sluice/local-parts";

const DOORS = [
  ...["ZOO1_PORT", "ZOO2_PORT", "ZOO3_PORT", "MARIADB_PORT", "SMTP_PORT", "MAIL_PORT", "INTAKE_PORT", "ADMIN_PORT"],
  ...["PROMETHEUS_PORT", "GRAFANA_PORT", "JOB_API_PORT", "BEDROCK_PORT", "JOB_PEER_PORT", "STAGE_API_PORT"],
] as const;

/** The variable of a service's metrics port in deploy/compose/host-network.yml. */
const metricsPortOf = (service: string): string => `${service.toUpperCase().replaceAll("-", "_")}_METRICS_PORT`;

export type Ports = Readonly<Record<string, number>>;

export async function choosePorts(services: readonly string[]): Promise<Ports> {
  const names = [...DOORS, ...services.map(metricsPortOf), ...QUORUM];
  const taken = new Set<number>();
  const chosen: Record<string, number> = {};
  for (const name of names) {
    let port = await freePort();
    while (taken.has(port)) port = await freePort();
    taken.add(port);
    chosen[name] = port;
  }
  return chosen;
}

const MEMBERS = [1, 2, 3] as const;
const QUORUM = MEMBERS.flatMap((n) => [`PEER${n}_PORT`, `ELECTION${n}_PORT`]);

export const at = (ports: Ports, name: string): number => {
  const port = ports[name];
  if (port === undefined) throw new Error(`no port ${name}`);
  return port;
};

export const urlOf = (ports: Ports, name: string): string => `http://127.0.0.1:${at(ports, name)}`;

/** As deploy/compose/full.env, on the host's network. */
export function settingsOf(ports: Ports): Readonly<Record<string, string>> {
  const member = (n: number): string =>
    `server.${n}=127.0.0.1:${at(ports, `PEER${n}_PORT`)}:${at(ports, `ELECTION${n}_PORT`)};${at(ports, `ZOO${n}_PORT`)}`;
  return {
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
    ZOOKEEPER_CONNECT: connectOf(ports),
    ZOO_SERVERS: MEMBERS.map(member).join(" "),
    ZOOKEEPER_JVMFLAGS: "-Xmx256m",
    INVENTORY_URL_FILE: "/run/secrets/inventory_url",
    MAIL_URL: `smtp://127.0.0.1:${at(ports, "SMTP_PORT")}?requireTLS=false`,
    // The content of the smoke's own batch is on this machine.
    ALLOW_LOOPBACK: "true",
  };
}

export const connectOf = (ports: Ports): string =>
  MEMBERS.map((n) => `127.0.0.1:${at(ports, `ZOO${n}_PORT`)}`).join(",");

/** As deploy/compose/prometheus.yml, for containers without names. */
export function prometheusConfig(ports: Ports, services: readonly string[]): string {
  const targets = services.map((service) => `127.0.0.1:${at(ports, metricsPortOf(service))}`);
  return JSON.stringify({
    global: { scrape_interval: "2s", evaluation_interval: "2s" },
    rule_files: ["rules/*.yml"],
    scrape_configs: [{ job_name: "sluice", static_configs: [{ targets }] }],
  });
}
