/** All of a runner but the process around it. */
import { openJobs, type JobClient } from "@sluice/job-client";
import type { HarvestPorts } from "@sluice/job-workers";
import { createEgress, type Egress, policyOf } from "@sluice/safe-io";
import { type ExtraServer, heldToken, type ServiceParts } from "@sluice/stage-runtime";
import type { Session } from "@sluice/zookeeper";
import { randomUUID } from "node:crypto";
import { rmdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunnerConfig } from "./config.ts";
import { containerRunner } from "./container/container-runner.ts";
import type { Engine } from "./container/engine.ts";
import { openFilesets } from "./container/filesets.ts";
import { engineOf, type EngineWatch, watchEngine } from "./container/open-engine.ts";
import { expectChores, tellDone } from "./fleet-chores.ts";
import { fleetWork, makeSchedules } from "./fleet-work.ts";
import { fsckMail } from "./fsck-mail.ts";
import { type RunnerMetrics, runnerMetrics } from "./metrics.ts";
import { ownPolicy } from "./own-policy.ts";
import { machineStats } from "./presence/machine.ts";
import { Presence } from "./presence/presence.ts";
import { httpRunner } from "./run/http-runner.ts";
import { queueOf } from "./run/queue.ts";
import type { Runner } from "./run/types.ts";
import { CONTAINER_TYPE, WorkLoop } from "./run/work-loop.ts";
import { openNodeRunner } from "./sandbox/open-node-runner.ts";
import type { Interpreters } from "./sandbox/interpreters.ts";
import type { Standing } from "./sandbox/walls.ts";

export interface RunnerHost {
  readonly standing: Standing;
  readonly interpreters: Interpreters;
  readonly random: () => number;
}

const SOCKETS = 10;
const MIB = 1_048_576;

const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
const later = (ms: number, wake: () => void): (() => void) => {
  const timer = setTimeout(wake, ms);
  return () => clearTimeout(timer);
};

export function makeRunner(config: RunnerConfig, parts: ServiceParts, host: RunnerHost): ExtraServer {
  const { log, clock } = parts;
  const { nowMs } = clock;
  const metrics = runnerMetrics(parts.registry, host.standing);
  const client = openJobs({
    urls: config.JOB_API_URLS ?? [config.JOB_API_URL],
    worker: config.WORKER_ID,
    ...heldToken(config.JOB_API_TOKEN, config.JOB_API_TOKEN_FILE),
  });
  const queue = queueOf(client, {
    tenants: config.JOB_TENANTS ?? null,
    types: config.JOB_TYPES ?? null,
    besides: withoutHandler(config),
  });
  const egress = createEgress({ policy: policyOf(config), connectionsPerHost: SOCKETS, maxRedirects: 0 });
  const own = createEgress({ policy: ownPolicy(config), connectionsPerHost: SOCKETS, maxRedirects: 0 });
  const engine = engineOf(config, nowMs);
  const engineWatch = engine === null ? null : watchEngine(engine, log, (limits) => metrics.engineLimits(limits));
  const instance = randomUUID();
  const runners = runnersOf(config, parts, host, { metrics, egress, own, engine, instance });
  const session = (): Session | null => parts.queue()?.context.session ?? null;
  const loop: WorkLoop = new WorkLoop({
    queue,
    runnerOf: (lang) => (lang === "http" || lang === "container" ? runners[lang] : runners.code),
    builtIn: fleetWork(
      config,
      client,
      { nowMs, pause },
      {
        onFindings: fsckMail({
          session,
          nowMs,
          log,
          onFindings: (count) => metrics.findings(count),
        }),
        onDone: (type) => tellDone(session, type, log),
      },
    ),
    concurrency: config.STAGE_CONCURRENCY,
    retry: { maxAgeMs: config.RETRY_MAX_AGE_MS, maxAttempts: null, delayMs: config.RETRY_DELAY_MS },
    log,
    nowMs,
    pause,
    onHand: (hand) => {
      metrics.inHand(hand.size);
      presence.setJob(hand.ids);
    },
    onSettled: (step) => metrics.settled(step),
  });
  const presence = new Presence({
    session,
    name: config.WORKER_ID,
    publicIp: config.PUBLIC_IP,
    system: config.SYSTEM_SCHEDULES,
    heartbeatMs: config.HEARTBEAT_MS,
    harvestMs: config.HARVEST_INTERVAL_MS,
    patience: {
      timeoutMs: config.HEARTBEAT_TIMEOUT_MS,
      sessionlessMs: 0,
      keepDeadMs: config.DEAD_WORKER_KEEP_MS,
    },
    stats: machineStats(),
    random: host.random,
    nowMs,
    pause,
    log,
    releaseWorker: (name) => queue.releaseWorker(name),
    hook: hookOf(config.DEAD_WORKER_HOOK, config.HARVEST_INTERVAL_MS, own),
    onPresent: (present, why) => {
      loop.allow(present);
      if (!present) loop.dropAll(why);
    },
    onDead: (workers) => metrics.dead(workers),
    onHooks: (hooks) => metrics.hooks(hooks),
    // A runner that was killed cannot remove its containers, unless it comes again by its name.
    onAlive: async (alive) =>
      engineWatch?.sweep((worker, of) => !alive.has(worker) || (worker === config.WORKER_ID && of !== instance)),
  });
  const boxes = host.standing.box.root;
  return {
    name: "job-runner",
    ...lifeOf({
      config,
      parts,
      loop,
      presence,
      runners,
      client,
      egresses: [egress, own],
      queue,
      boxes,
      engine,
      engineWatch,
    }),
  };
}

const FLEET_TYPES = "fleet/*";

/** Ours to run, if this runner can. */
const withoutHandler = ({ SYSTEM_SCHEDULES, DOCKER_HOST }: RunnerConfig): readonly string[] => [
  ...(SYSTEM_SCHEDULES ? [FLEET_TYPES] : []),
  ...(DOCKER_HOST === undefined ? [] : [CONTAINER_TYPE]),
];

interface Life {
  readonly config: RunnerConfig;
  readonly parts: ServiceParts;
  readonly loop: WorkLoop;
  readonly presence: Presence;
  readonly runners: Readonly<Record<string, Runner>>;
  readonly client: JobClient;
  readonly egresses: readonly Egress[];
  readonly queue: { releaseWorker(name: string): Promise<boolean> };
  /** The empty folder over which boxes mount their own. */
  readonly boxes: string;
  readonly engine: Engine | null;
  readonly engineWatch: EngineWatch | null;
}

function lifeOf(life: Life): Pick<ExtraServer, "start" | "stop"> {
  const { config, parts, loop, presence, runners, client, egresses, queue, boxes, engine, engineWatch } = life;
  const over = new AbortController();
  return {
    start: () => {
      presence.start();
      loop.start();
      engineWatch?.look().catch((error: unknown) => parts.log.error({ err: error }, "the Docker engine was not asked"));
      if (config.SYSTEM_SCHEDULES)
        makeSchedules(client, parts.log, (ms) => pause(ms, over.signal), over.signal).catch((error: unknown) =>
          parts.log.error({ err: error }, "the fleet's own schedules could not be made"),
        );
      if (config.SYSTEM_SCHEDULES) {
        const session = (): Session | null => parts.queue()?.context.session ?? null;
        expectChores(session, (ms) => pause(ms, over.signal), over.signal).catch((error: unknown) =>
          parts.log.error({ err: error }, "it could not be written what is expected of runners"),
        );
      }
      return Promise.resolve();
    },
    async stop() {
      over.abort();
      // At the second bell, or when the grace is over, what has not ended goes back to the queue at once.
      const giveBack = (): void => {
        loop.dropAll("the runner ends");
        // Otherwise they come back when their leases lapse.
        queue.releaseWorker(config.WORKER_ID).catch(() => undefined);
      };
      parts.aborting.addEventListener("abort", giveBack, { once: true });
      if (parts.aborting.aborted) giveBack();
      await loop.drain();
      parts.aborting.removeEventListener("abort", giveBack);
      await presence.stop();
      for (const runner of Object.values(runners)) await runner.close();
      await engine?.close().catch((error: unknown) => parts.log.warn({ err: error }, "images were not removed"));
      await client.close();
      for (const egress of egresses) await egress.close();
      await rmdir(boxes).catch(() => undefined);
    },
  };
}

interface RunnerParts {
  readonly metrics: RunnerMetrics;
  /** For what tenants ask for. */
  readonly egress: Egress;
  /** For what the fleet itself asks. */
  readonly own: Egress;
  readonly engine: Engine | null;
  readonly instance: string;
}

function runnersOf(
  config: RunnerConfig,
  { log }: ServiceParts,
  { standing, interpreters }: RunnerHost,
  { metrics, egress, own, engine, instance }: RunnerParts,
): Readonly<Record<"code" | "http" | "container", Runner>> {
  const refused = refusalOf(config, standing);
  log.info({ walls: standing.walls, missing: standing.missing, refused }, "walls around tenants' code");
  const languages = [...interpreters].map(([lang, found]) => [lang, typeof found === "string" ? found : found.program]);
  log.info(
    { interpreters: Object.fromEntries(languages) as Record<string, string> },
    "interpreters of tenants' scripts",
  );
  return {
    code: openNodeRunner({
      standing,
      interpreters,
      egress,
      filesDir: config.NODE_FILES_DIR ?? null,
      settings: {
        timeoutMs: config.NODE_TIMEOUT_MS,
        cpuMs: config.NODE_CPU_MS,
        memoryMb: config.NODE_MEMORY_MB,
        idleMs: config.NODE_CONTEXT_IDLE_MS,
        jobsPerContext: config.NODE_CONTEXT_JOBS,
      },
      refused,
      onBroken: (why) => {
        log.warn({ why }, "a process of tenants' code was ended");
        metrics.broken(why);
      },
      onCount: (count) => metrics.contexts(count),
    }),
    http: httpRunner({ egress, timeoutMs: config.HTTP_TIMEOUT_MS }),
    container: containerRunner({
      engine,
      filesets: openFilesets(config.FILESET_URL, own),
      worker: config.WORKER_ID,
      instance,
      timeoutMs: config.CONTAINER_TIMEOUT_MS,
      images: config.CONTAINER_IMAGES ?? [],
      user: config.CONTAINER_USER,
      filesetBounds: { files: config.FILESET_MAX_FILES, bytes: config.FILESET_MAX_BYTES },
      diskBytes: config.CONTAINER_DISK_MB * MIB,
      onRefused: (refused) => {
        log.warn(refused, "a job's image is none of CONTAINER_IMAGES: the job fails");
        metrics.refusedImage();
      },
      later,
    }),
  };
}

/** Without namespaces only the language holds tenants' code, and it does not claim to. */
function refusalOf({ NODE_HANDLERS }: RunnerConfig, { walls, missing }: Standing): string | null {
  if (NODE_HANDLERS === "off") return "this runner runs no code of tenants";
  if (NODE_HANDLERS === "weak" || walls.namespaces) return null;
  return `this runner has no walls for code of tenants: ${missing ?? ""}`;
}

/** The answer must be a good one: whoever gets it is to shut the instance down, or to know of it already. */
function hookOf(url: string | undefined, pauseMs: number, egress: Egress): HarvestPorts["hook"] {
  if (url === undefined) return null;
  return {
    pauseMs,
    async tell(entry, id) {
      const told = await egress.post(url, {
        contentType: "application/json",
        body: JSON.stringify(entry),
        headers: { "Idempotency-Key": id },
      });
      if (told.ok) told.value.discard();
      return told.ok;
    },
  };
}
