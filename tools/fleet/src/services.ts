/** What the fleet consists of. Ports are the defaults of the services; a taken one gives way to a free one. */
export interface ServiceRow {
  readonly name: string;
  readonly metricsPort: number;
  /** Of its API, if it has one. */
  readonly port: number | null;
  /** Others, by the name of their setting. */
  readonly ports?: Readonly<Record<string, number>>;
}

export const SERVICES = [
  { name: "batch-intake", metricsPort: 9400, port: 8080 },
  { name: "estimator", metricsPort: 9401, port: null },
  { name: "provisioner", metricsPort: 9402, port: null },
  { name: "downloader", metricsPort: 9403, port: null },
  { name: "processor", metricsPort: 9404, port: null },
  { name: "recorder", metricsPort: 9405, port: null },
  { name: "notifier", metricsPort: 9406, port: null },
  { name: "reporter", metricsPort: 9407, port: null },
  { name: "admin", metricsPort: 9408, port: 8081 },
  { name: "job-api", metricsPort: 9409, port: 8082, ports: { BEDROCK_PORT: 8888, PEER_PORT: 8889 } },
  { name: "job-runner", metricsPort: 9410, port: null },
  { name: "stage-api", metricsPort: 9411, port: 8083 },
] as const satisfies readonly ServiceRow[];

/** Those with a page about their API, at /docs. */
export const DOCUMENTED: readonly ServiceName[] = ["batch-intake", "admin", "job-api", "stage-api"];

export type ServiceName = (typeof SERVICES)[number]["name"];

export const isService = (raw: string): raw is ServiceName => SERVICES.some(({ name }) => name === raw);
