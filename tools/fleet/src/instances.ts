/** One process of the fleet: where it listens and what it is told. */
import { join } from "node:path";
import { SERVICES, type ServiceName } from "./services.ts";
import { tokensFile } from "./tokens.ts";

export interface Instance {
  readonly service: ServiceName;
  /** estimator, estimator-2, … */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Metrics and health. */
  readonly metricsUrl: string;
  /** The API; of a service without one, metrics and health. */
  readonly url: string;
  readonly logFile: string;
}

export interface FleetPlan {
  readonly dataDir: string;
  readonly zookeeper: string;
  readonly scale: ReadonlyMap<ServiceName, number>;
  /** The wanted port if it is free, else another one. */
  readonly choosePort: (wanted: number) => Promise<number>;
}

const HOST = "127.0.0.1";

export async function planInstances(plan: FleetPlan): Promise<readonly Instance[]> {
  const instances: Instance[] = [];
  for (const service of SERVICES) {
    const count = plan.scale.get(service.name) ?? 1;
    for (let n = 1; n <= count; n++) {
      const metrics = await plan.choosePort(service.metricsPort);
      const api = service.port === null ? null : await plan.choosePort(service.port);
      instances.push(instance(plan, service.name, n, metrics, api));
    }
  }
  return instances;
}

function instance(plan: FleetPlan, service: ServiceName, n: number, metrics: number, api: number | null): Instance {
  const name = n === 1 ? service : `${service}-${n}`;
  const metricsUrl = `http://${HOST}:${metrics}`;
  return {
    service,
    name,
    metricsUrl,
    url: api === null ? metricsUrl : `http://${HOST}:${api}`,
    logFile: join(plan.dataDir, "logs", `${name}.log`),
    env: {
      ...parts(plan.dataDir),
      ...(service === "admin" ? adminParts(plan.dataDir) : {}),
      ZOOKEEPER_CONNECT: plan.zookeeper,
      METRICS_PORT: String(metrics),
      ...(api === null ? {} : { PORT: String(api), HOST, ...accessParts(plan.dataDir) }),
      WORKER_ID: name,
      JOURNAL_DIR: join(plan.dataDir, "journal", name),
    },
  };
}

/** Of every service with an API. */
const accessParts = (dataDir: string): Readonly<Record<string, string>> => ({
  AUTH: "on",
  AUTH_TOKENS_FILE: tokensFile(dataDir),
});

const adminParts = (dataDir: string): Readonly<Record<string, string>> => ({
  MAIL_OUTBOX_DIR: join(dataDir, "outbox"),
  LOGS_DIR: join(dataDir, "logs"),
});

/** The embedded parts, all below the data folder. ALLOW_LOOPBACK: the sample's content server is on this machine. */
const parts = (dataDir: string): Readonly<Record<string, string>> => ({
  WORKING_DIR: join(dataDir, "queue"),
  PROFILES_DIR: join(dataDir, "profiles"),
  STORAGE_URL: `ocfl:${join(dataDir, "store")}`,
  INVENTORY_URL: `sqlite:${join(dataDir, "inventory.db")}`,
  MAIL_URL: `outbox:${join(dataDir, "outbox")}`,
  ALLOW_LOOPBACK: "true",
});
