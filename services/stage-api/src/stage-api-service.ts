/** The service: no duties of its own, one API, and the workers that it claims for. */
import { openAccess, openKeyFetcher } from "@sluice/access";
import { countRefusals, hostsAnswered, HTTP_METRICS, type HttpServer, isProxyOf, listen } from "@sluice/http-api";
import { type ExtraServer, makeInstruments, type ServiceOptions, type ServiceParts } from "@sluice/stage-runtime";
import { Gauge, type Registry } from "prom-client";
import { hostname } from "node:os";
import type { Later } from "./claims/held-claim.ts";
import { Seats } from "./claims/seats.ts";
import type { Seat } from "./claims/seat.ts";
import type { StageApiConfig } from "./config.ts";
import { stageApp } from "./http/app.ts";
import { Peers } from "./http/peers.ts";
import { STAGE_API_METRICS, stageApiMetrics } from "./metrics.ts";

export interface Told {
  /** Where it listens. */
  readonly onListening?: (url: string) => void;
}

const later: Later = (ms, wake) => {
  const timer = setTimeout(wake, ms);
  return () => clearTimeout(timer);
};

export function stageApiService(config: StageApiConfig, told: Told = {}): ServiceOptions {
  const keys = openKeyFetcher(config);
  let listening: HttpServer | null = null;
  const server = (service: ServiceParts): ExtraServer => {
    const leaving = new AbortController();
    const { counters, seats } = openSeats(config, service);
    return {
      name: "stages",
      async start() {
        listening = await serve(config, service, { counters, seats, leaving: leaving.signal }, keys.fetchKeys);
        service.log.info({ url: listening.url, stages: config.STAGES }, "stages are worked here");
        told.onListening?.(listening.url);
      },
      /** Nobody gets a job any more; callers may end what they hold for as long as the grace period lasts. */
      async stop() {
        leaving.abort();
        await Promise.race([seats.drained(), aborted(service.aborting)]);
        await listening?.close(CLOSING_MS);
      },
    };
  };
  return {
    service: "stage-api",
    config,
    duties: [],
    extraServers: (service) => [server(service)],
    url: () => `http://${hostOf(config)}:${listening?.port ?? config.PORT}`,
    close: () => keys.close(),
  };
}

/** What is being answered still gets out. */
const CLOSING_MS = 2_000;

const EVERY_INTERFACE: readonly string[] = ["0.0.0.0", "::"];

const hostOf = ({ HOST, ADVERTISE_HOST }: StageApiConfig): string => {
  const host = ADVERTISE_HOST ?? (EVERY_INTERFACE.includes(HOST) ? hostname() : HOST);
  return host.includes(":") ? `[${host}]` : host;
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

type Counters = Omit<ReturnType<typeof stageApiMetrics>, "workers" | "claims" | "takes">;

interface Opened {
  readonly counters: Counters;
  readonly seats: Seats;
}

function openSeats(config: StageApiConfig, service: ServiceParts): Opened {
  const { registry, clock, log } = service;
  const { workers, claims, takes, ...counted } = STAGE_API_METRICS;
  const counters = makeInstruments(counted, registry);
  const seats = new Seats({ service, config, clock, later, metrics: counters, log });
  const show = (spec: typeof workers | typeof claims | typeof takes, of: (seat: Seat) => number): void =>
    showGauge(registry, spec, config.STAGES, (stage) =>
      seats.list().reduce((sum, seat) => sum + (seat.stage.stage === stage ? of(seat) : 0), 0),
    );
  show(workers, () => 1);
  show(claims, (seat) => seat.held);
  show(takes, (seat) => seat.waiting);
  for (const stage of config.STAGES)
    for (const counter of [counters.expired, counters.late, counters.unclaimed]) counter.inc({ stage }, 0);
  for (const outcome of ["answered", "no-answer"]) counters.forwarded.inc({ outcome }, 0);
  return { counters, seats };
}

function showGauge(
  registry: Registry,
  { name, help, labels }: { readonly name: string; readonly help: string; readonly labels: readonly string[] },
  stages: readonly string[],
  value: (stage: string) => number,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect: () => {
      for (const stage of stages) gauge.set({ stage }, value(stage));
    },
  });
}

async function serve(
  config: StageApiConfig,
  service: ServiceParts,
  { counters, seats, leaving }: Opened & { readonly leaving: AbortSignal },
  fetchKeys: ReturnType<typeof openKeyFetcher>["fetchKeys"],
): Promise<HttpServer> {
  const { log, clock, registry } = service;
  if (config.AUTH === "off") log.warn("AUTH is off: whoever reaches the port may do everything");
  const authenticator = openAccess({
    settings: config,
    session: () => service.queue()?.context.session ?? null,
    clock,
    fetchKeys,
    onProblem: (problem) => log.warn({ problem }, "tokens"),
  });
  const peers = new Peers({ service, metrics: counters });
  const app = stageApp({
    deps: { seats, peers, service, config, metrics: counters, log, leaving },
    wall: {
      authenticator,
      callsPerMinute: config.CALLS_PER_MINUTE,
      bodyBytesPerCaller: config.BODY_BYTES_PER_CALLER,
      hosts: hostsAnswered(config),
    },
    trustedProxies: config.TRUSTED_PROXIES,
    metrics: counters,
    log,
    version: config.SLUICE_VERSION,
  });
  const onRefused = countRefusals(makeInstruments(HTTP_METRICS, registry));
  const { HOST: host, PORT: port } = config;
  const opened = await listen(app, { host, port, limits: config, isProxy: isProxyOf(app), onRefused });
  if (!opened.ok) throw new Error(opened.message);
  return opened.server;
}
