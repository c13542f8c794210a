import { type AccessSettings, type Authenticator, type FetchKeys, openAccess, openTokenFile } from "@sluice/access";
import { countRefusals, hostsAnswered, HTTP_METRICS, isProxyOf, makeEventStreams } from "@sluice/http-api";
import type { ProfileStore } from "@sluice/profile-store";
import { queueAccess } from "@sluice/queue-core";
import {
  type ExtraServer,
  type Instruments,
  makeInstruments,
  type ServiceParts,
  type StampedPart,
} from "@sluice/stage-runtime";
import { parseConnect, type Session } from "@sluice/zookeeper";
import { listBatchFolders } from "@sluice/working-folder";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { AdminConfig } from "./config.ts";
import { historyKeeper, makeHistory } from "./fleet/history.ts";
import { makeOverviews } from "./fleet/overview.ts";
import { CONSISTENCY_METRICS } from "./consistency/gauges.ts";
import { consistencyKeeper } from "./consistency/keeper.ts";
import { exportSnapshot } from "./export-snapshot.ts";
import { FLEET_METRICS } from "./gauges.ts";
import { TOKEN_METRICS } from "./house/gauges.ts";
import { makeTokenEnds, type TokenEnds } from "./house/token-ends.ts";
import { httpServer } from "./http-server.ts";
import { adminApp } from "./http/app.ts";
import type { Archive } from "./http/archived.ts";
import { addConsole } from "./http/console.ts";
import type { AdminDeps } from "./http/deps.ts";
import { makeSessions } from "./http/sessions.ts";
import { makeTopics } from "./http/topics.ts";
import { indexFiller } from "./index/fill-index.ts";
import type { JobIndex } from "./index/job-index.ts";
import type { ADMIN_METRICS } from "./metrics.ts";
import { sharedLook } from "./shared-look.ts";
import { makeSurveyor } from "./surveyor.ts";
import { askOver } from "./zookeeper-servers/ask.ts";
import { ZOOKEEPER_SERVER_METRICS } from "./zookeeper-servers/gauges.ts";
import { lookAtServers } from "./zookeeper-servers/look.ts";

/** What the service reads besides the queue. */
export interface Outside {
  readonly profiles: Pick<ProfileStore, "get" | "names">;
  readonly archive: Archive | null;
  /** What these belong to, which is checked first. */
  readonly stamped?: readonly StampedPart[];
  readonly close?: () => Promise<void>;
  /** Where the console was built, if elsewhere. */
  readonly consoleDir?: string;
  /** Told where the API is. */
  readonly onListening?: (url: string) => void;
}

/** What servers and duties have in common. */
export interface Shared {
  readonly metrics: Instruments<typeof ADMIN_METRICS>;
  readonly index: JobIndex;
  /** Of the identity provider. */
  readonly fetchKeys: FetchKeys;
}

/** Beside the compiled sources, where its build puts it. */
const CONSOLE_DIR = fileURLToPath(new URL("../dist/console", import.meta.url));
const LIVE_EVERY_MS = 1_000;

/** Gauges at the metrics port, API and pages at their own: all from one look at the fleet. */
export function serveFleet(
  config: AdminConfig,
  outside: Outside,
  parts: ServiceParts,
  { metrics, index, fetchKeys }: Shared,
): readonly ExtraServer[] {
  const { queue, clock, registry, log } = parts;
  const surveyor = makeSurveyor(queue, clock, config.SURVEY_MAX_AGE_MS);
  exportSnapshot(registry, FLEET_METRICS, surveyor.survey);
  exportServers(config, parts);
  const session = (): Session | null => queue()?.context.session ?? null;
  const history = makeHistory({ session, surveyor, nowMs: clock.nowMs });
  const tokenEnds = tokenEndsOf(config, session, clock.nowMs);
  exportSnapshot(registry, TOKEN_METRICS, sharedLook(tokenEnds, clock, config.SURVEY_MAX_AGE_MS));
  const streams = makeEventStreams({ onChange: () => metrics.streams.set(streams.count) });
  const deps: AdminDeps = {
    queue,
    clock,
    log,
    metrics,
    index,
    history,
    overviews: makeOverviews({
      queue,
      clock,
      surveyor,
      index,
      history,
      workingDir: config.WORKING_DIR,
      admitBelow: config.SPACE_LIMIT,
    }),
    profiles: outside.profiles,
    archive: outside.archive,
    topics: makeTopics({ streams, everyMs: LIVE_EVERY_MS }),
    tokenEnds,
    intakeUrl: config.INTAKE_URL ?? null,
    randomBytes,
    settings: {
      version: config.SLUICE_VERSION,
      workingDir: config.WORKING_DIR,
      outboxDir: config.MAIL_OUTBOX_DIR ?? null,
      logsDir: config.LOGS_DIR ?? null,
      auditKeysFile: config.AUDIT_PUBLIC_KEYS_FILE ?? null,
    },
  };
  const app = adminApp({
    deps,
    authenticator: authenticatorOf(config, session, fetchKeys, parts),
    sessions: makeSessions({
      idleMs: config.SESSION_IDLE_MS,
      maxMs: config.SESSION_MAX_MS,
      alwaysSecure: config.NODE_ENV === "production",
      monotonicMs: clock.monotonicMs,
      randomBytes,
    }),
    limits: {
      callsPerMinute: config.CALLS_PER_MINUTE,
      bodyBytesPerCaller: config.BODY_BYTES_PER_CALLER,
      hosts: hostsAnswered(config),
    },
    trustedProxies: config.TRUSTED_PROXIES,
    jobApiUrl: config.JOB_API_URL ?? null,
    pages: (router) => addConsole(router, outside.consoleDir ?? CONSOLE_DIR),
  });
  return [
    indexFiller(index, session),
    consistencyKeeper({
      session,
      folders: () => listBatchFolders(config.WORKING_DIR),
      everyMs: config.FSCK_INTERVAL_MS,
      metrics: makeInstruments(CONSISTENCY_METRICS, registry),
      clock,
      log,
    }),
    historyKeeper(history, (error) => log.error({ err: error }, "no sample was taken")),
    httpServer(app, {
      host: config.HOST,
      port: config.PORT,
      graceMs: config.SHUTDOWN_GRACE_MS,
      limits: config,
      isProxy: isProxyOf(app),
      onRefused: countRefusals(makeInstruments(HTTP_METRICS, registry)),
      log,
      onClose: () => streams.close(),
      onListening: (url) => outside.onListening?.(url),
    }),
  ];
}

/** The servers of the ensemble, each asked for itself: a session sees only the one it is connected to. */
function exportServers(config: AdminConfig, { registry, clock }: ServiceParts): void {
  const { servers } = parseConnect(config.ZOOKEEPER_CONNECT);
  const ask = askOver(queueAccess(config).openSocket);
  const look = sharedLook(() => lookAtServers(servers, ask), clock, config.SURVEY_MAX_AGE_MS);
  exportSnapshot(registry, ZOOKEEPER_SERVER_METRICS, look);
}

/** While nobody is asked for a token, none of them ends. What is wrong with the file, the authenticator tells. */
function tokenEndsOf(
  { AUTH, AUTH_TOKENS_FILE: path }: AccessSettings,
  session: () => Session | null,
  nowMs: () => number,
): TokenEnds {
  if (AUTH === "off") return () => Promise.resolve([]);
  const file = path === undefined ? null : openTokenFile(path, { onProblem: () => undefined });
  return makeTokenEnds({ session, file, nowMs });
}

function authenticatorOf(
  settings: AccessSettings,
  session: () => Session | null,
  fetchKeys: FetchKeys,
  { clock, log }: ServiceParts,
): Authenticator {
  if (settings.AUTH === "off") log.warn("AUTH is off: whoever reaches the port may do everything");
  return openAccess({
    settings,
    session,
    clock,
    fetchKeys,
    onProblem: (problem) => log.warn({ problem }, "tokens"),
  });
}
