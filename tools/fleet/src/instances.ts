/** One process of the fleet: where it listens and what it is told. */
import { join } from "node:path";
import { auditKeyFile, auditPublicKeysFile } from "./audit-key.ts";
import { peerSecretFile, serviceTokenFile } from "./job-secrets.ts";
import { SERVICES, type ServiceName, type ServiceRow } from "./services.ts";
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
  /** Bedrock's protocol, host:port; null for who does not speak it. */
  readonly bedrock: string | null;
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
  const placed: Placed[] = [];
  for (const service of SERVICES as readonly (ServiceRow & { readonly name: ServiceName })[]) {
    const count = plan.scale.get(service.name) ?? 1;
    for (let n = 1; n <= count; n++) placed.push(await place(plan, service, n));
  }
  const urlOf: UrlOf = (wanted) => `http://${HOST}:${placed.find(({ service }) => service === wanted)?.api ?? 0}`;
  return placed.map((each) => instance(plan, each, urlOf));
}

/** Of the first process of a service with an API. */
type UrlOf = (service: ServiceName) => string;

/** A process and its ports. */
interface Placed {
  readonly service: ServiceName;
  readonly name: string;
  readonly metrics: number;
  readonly api: number | null;
  /** By the name of their setting. */
  readonly others: Readonly<Record<string, number>>;
}

async function place(
  { choosePort }: FleetPlan,
  { name: service, metricsPort, port, ports = {} }: ServiceRow & { readonly name: ServiceName },
  n: number,
): Promise<Placed> {
  const metrics = await choosePort(metricsPort);
  const api = port === null ? null : await choosePort(port);
  const others: Record<string, number> = {};
  for (const [setting, wanted] of Object.entries(ports)) others[setting] = await choosePort(wanted);
  return { service, name: n === 1 ? service : `${service}-${n}`, metrics, api, others };
}

function instance(plan: FleetPlan, { service, name, metrics, api, others }: Placed, urlOf: UrlOf): Instance {
  const metricsUrl = `http://${HOST}:${metrics}`;
  const bedrock = others["BEDROCK_PORT"];
  return {
    service,
    name,
    metricsUrl,
    url: api === null ? metricsUrl : `http://${HOST}:${api}`,
    bedrock: bedrock === undefined ? null : `${HOST}:${bedrock}`,
    logFile: join(plan.dataDir, "logs", `${name}.log`),
    env: {
      ...parts(plan.dataDir),
      ...OWN_PARTS[service]?.(plan.dataDir, urlOf),
      ...Object.fromEntries(Object.entries(others).map(([setting, port]) => [setting, String(port)])),
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

type OwnParts = (dataDir: string, urlOf: UrlOf) => Readonly<Record<string, string>>;

/** What single services are told. */
const OWN_PARTS: Readonly<Partial<Record<ServiceName, OwnParts>>> = {
  admin: (dataDir, urlOf) => ({
    MAIL_OUTBOX_DIR: join(dataDir, "outbox"),
    LOGS_DIR: join(dataDir, "logs"),
    AUDIT_PUBLIC_KEYS_FILE: auditPublicKeysFile(dataDir),
    JOB_API_URL: urlOf("job-api"),
    INTAKE_URL: urlOf("batch-intake"),
  }),
  "batch-intake": (dataDir, urlOf) => ({
    JOB_API_URL: urlOf("job-api"),
    JOB_API_TOKEN_FILE: serviceTokenFile(dataDir, "scheduler"),
  }),
  reporter: (dataDir) => ({ AUDIT_KEY_FILE: auditKeyFile(dataDir) }),
  "job-api": (dataDir) => ({
    JOB_STORE_DIR: join(dataDir, "job-store"),
    JOB_PEER_SECRET_FILE: peerSecretFile(dataDir),
  }),
  "job-runner": (dataDir, urlOf) => ({
    JOB_API_URL: urlOf("job-api"),
    JOB_API_TOKEN_FILE: serviceTokenFile(dataDir, "runner"),
    SYSTEM_SCHEDULES: "true",
    ADMIN_URL: urlOf("admin"),
    INTAKE_URL: urlOf("batch-intake"),
    ADMIN_TOKEN_FILE: serviceTokenFile(dataDir, "maintainer"),
    SNAPSHOTS_DIR: join(dataDir, "snapshots"),
    REPORTS_DIR: join(dataDir, "reports"),
    FILESET_URL: join(dataDir, "filesets"),
    // Those that the machine has.
    INTERPRETERS: "php,python,perl,ruby",
  }),
};

/** The embedded parts, all below the data folder. ALLOW_LOOPBACK: the sample's content server is on this machine. */
const parts = (dataDir: string): Readonly<Record<string, string>> => ({
  WORKING_DIR: join(dataDir, "queue"),
  PROFILES_DIR: join(dataDir, "profiles"),
  STORAGE_URL: `ocfl:${join(dataDir, "store")}`,
  INVENTORY_URL: `sqlite:${join(dataDir, "inventory.db")}`,
  MAIL_URL: `outbox:${join(dataDir, "outbox")}`,
  ALLOW_LOOPBACK: "true",
});
