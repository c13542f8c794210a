/** Everything that listens: HTTP and Bedrock's protocol. */
import { type Authenticator, type FetchKeys, openAccess } from "@sluice/access";
import {
  countRefusals,
  type Guesses,
  hostsAnswered,
  HTTP_METRICS,
  type HttpServer,
  isProxyOf,
  listen,
  makeGuesses,
} from "@sluice/http-api";
import { Errands, type Hear, jobOperations, type JobPorts, listenOnWire, type WireServer } from "@sluice/job-doors";
import type { Command } from "@sluice/job-queue";
import { makeInstruments, type ServiceParts } from "@sluice/stage-runtime";
import { isThisMachine } from "@sluice/zookeeper";
import { admitOnWire } from "./admit.ts";
import { auditWriter } from "./audit-writer.ts";
import type { JobApiConfig } from "./config.ts";
import { HandledTypes } from "./handled-types.ts";
import { jobApp } from "./http-app.ts";
import { jobLog } from "./job-log.ts";
import { DOOR_METRICS, exportReady } from "./metrics.ts";
import { later, type OpenedQueue } from "./open-queue.ts";
import { makePurge, purgeOperation } from "./purge.ts";
import { handlersOf, handlersPort, openWorkersPort } from "./registries.ts";
import { TenantRoom } from "./tenant-room.ts";

export interface Doors {
  /** Takes no more, answers what it has. */
  close(): Promise<void>;
}

export interface DoorsParts {
  readonly config: JobApiConfig;
  readonly opened: OpenedQueue;
  readonly fetchKeys: FetchKeys;
  readonly service: ServiceParts;
  /** Told where it listens. */
  readonly onListening?: (places: { readonly http: string; readonly bedrockPort: number }) => void;
}

export async function openDoors({ config, opened, fetchKeys, service, onListening }: DoorsParts): Promise<Doors> {
  const { log, registry } = service;
  const leaving = new AbortController();
  const hear = jobLog(log);
  const errands = new Errands(later, {
    onError: (error) => log.error({ err: error }, "a command without a waiting caller failed"),
    limits: {
      all: config.DEFERRED_COMMANDS,
      perTenant: config.DEFERRED_COMMANDS_PER_TENANT,
      delayMs: config.DEFERRED_COMMANDS_DELAY_MAX_MS,
    },
  });
  const metrics = makeInstruments(DOOR_METRICS, registry);
  // Over HTTP and over TCP the same tokens are guessed at.
  const guesses = makeGuesses();
  const authenticator = authenticatorOf(config, opened, fetchKeys, service);
  const app = jobApp({
    operations: [
      ...jobOperations({
        ...portsOf(opened, service, { leaving: leaving.signal, hear, errands }, config.JOBS_PER_TENANT),
        audit: auditWriter(service),
      }),
      purgeOperation(makePurge(opened, service.clock.nowMs), config.ARCHIVE_RETENTION_MS),
    ],
    wall: {
      authenticator,
      guesses,
      callsPerMinute: config.CALLS_PER_MINUTE,
      bodyBytesPerCaller: config.BODY_BYTES_PER_CALLER,
      hosts: hostsAnswered(config),
    },
    trustedProxies: config.TRUSTED_PROXIES,
    metrics,
    log,
    version: config.SLUICE_VERSION,
  });
  const { HOST: host, PORT: port } = config;
  const onRefused = countRefusals(makeInstruments(HTTP_METRICS, registry));
  const http = orThrow(await listen(app, { host, port, limits: config, isProxy: isProxyOf(app), onRefused })).server;
  const wire = await openWire(config, opened, authenticator, {
    service,
    hear,
    errands,
    guesses,
    onRefused: () => metrics.refused.inc(),
  });
  log.info({ url: http.url, bedrock_host: config.BEDROCK_HOST, bedrock_port: wire.port }, "jobs are taken here");
  onListening?.({ http: http.url, bedrockPort: wire.port });
  return { close: () => closeAll({ http, wire, leaving, errands }, config.SHUTDOWN_GRACE_MS) };
}

interface Open {
  readonly http: HttpServer;
  readonly wire: WireServer;
  readonly leaving: AbortController;
  readonly errands: Errands;
}

async function closeAll({ http, wire, leaving, errands }: Open, graceMs: number): Promise<void> {
  leaving.abort();
  await Promise.all([http.close(graceMs), wire.close()]);
  await errands.close();
}

function portsOf(
  { queue, adds, router, blobs, sessions }: OpenedQueue,
  { clock, registry }: ServiceParts,
  { leaving, hear, errands }: Pick<JobPorts, "leaving" | "hear" | "errands">,
  jobsPerTenant: number,
): Omit<JobPorts, "audit"> {
  const room = new TenantRoom({ queue, monotonicMs: clock.monotonicMs, jobsPerTenant });
  const handlers = handlersOf(sessions.first, clock);
  const handled = new HandledTypes(handlers, later, () => router.lookAgain());
  leaving.addEventListener("abort", () => handled.stop(), { once: true });
  exportReady(registry, router, handled, clock.nowMs);
  return {
    queue: {
      ask: (tenant, command) => {
        for (const type of followersIn(command)) handled.expect(tenant, type);
        return queue.ask(tenant, command);
      },
      wait: (tenant, command, timeoutMs, gone) => queue.wait(tenant, command, timeoutMs, gone),
    },
    addLines: async (jobtype, payloads, onFinish) => {
      const refused = await room.refusal(jobtype.tenant, payloads.length);
      if (refused !== null) return refused;
      handled.expect(jobtype.tenant, jobtype.name);
      if (onFinish !== undefined) handled.expect(jobtype.tenant, onFinish);
      return adds.addLines(jobtype, payloads, onFinish);
    },
    everyShard: (command) => router.everyShard(command),
    take: (asked) => router.take(asked),
    shards: () => router.shards(),
    blobs,
    handlers: handlersPort(handlers),
    isHandled: (tenant, type) => handled.has(tenant, type),
    workers: openWorkersPort(sessions.first, clock),
    leaving,
    hear,
    errands,
    now: clock.nowMs,
  };
}

/** Types that a handler's run leads to: what its result is handed on to, and what it asks for. */
function followersIn(command: Command): readonly string[] {
  if (command.verb === "CreateJobs") return command.jobs.flatMap(({ onFinish }) => onFinish ?? []);
  if (command.verb === "FinishJob" || command.verb === "RetryJob" || command.verb === "FailJob") {
    const follower = command.verb === "FinishJob" ? (command.onFinish ?? []) : [];
    return (command.then ?? []).map(({ name }) => name).concat(follower);
  }
  return [];
}

function authenticatorOf(
  settings: JobApiConfig,
  { sessions }: OpenedQueue,
  fetchKeys: FetchKeys,
  { clock, log }: ServiceParts,
): Authenticator {
  if (settings.AUTH === "off") log.warn("AUTH is off: whoever reaches the port may do everything");
  return openAccess({
    settings,
    session: () => sessions.first.current(),
    clock,
    fetchKeys,
    onProblem: (problem) => log.warn({ problem }, "tokens"),
  });
}

interface WireParts {
  readonly service: ServiceParts;
  readonly hear: Hear;
  readonly errands: Errands;
  readonly guesses: Guesses;
  readonly onRefused: () => void;
}

async function openWire(
  config: JobApiConfig,
  { queue }: OpenedQueue,
  authenticator: Authenticator,
  { service: { clock, log }, hear, errands, guesses, onRefused }: WireParts,
): Promise<WireServer> {
  const { BEDROCK_HOST: host, BEDROCK_PORT: port } = config;
  const admit = admitOnWire({ authenticator, isLoopback: isThisMachine(host), guesses, onRefused });
  const onError = (error: unknown): void => log.error({ err: error }, "a request over TCP failed");
  const lobby = {
    connections: config.BEDROCK_CONNECTIONS,
    perTenant: config.BEDROCK_CONNECTIONS_PER_TENANT,
    strangersBytes: config.BEDROCK_UNACCEPTED_BYTES,
  };
  const ports = { queue, now: clock.nowMs, later, admit, hear, errands, onError };
  return orThrow(await listenOnWire({ host, port, lobby, ...ports })).server;
}

function orThrow<T extends { readonly ok: boolean }>(result: T): Extract<T, { readonly ok: true }> {
  if (result.ok) return result as Extract<T, { readonly ok: true }>;
  throw new Error("message" in result ? String(result.message) : "cannot listen");
}
