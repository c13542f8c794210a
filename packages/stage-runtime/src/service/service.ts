/** A service from its start to its end: sessions come and go below it, the bells end it. */
import { jobFolder, type JobPlace, queueAccess } from "@sluice/queue-core";
import { keepSession, type Session, type SessionKeeper } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Registry } from "prom-client";
import { redactConfig } from "../config/redact-config.ts";
import type { Duty } from "../duty.ts";
import { Claims } from "../engine/claims.ts";
import { makeFailpoints } from "../engine/failpoints.ts";
import { HungSweeps } from "../engine/hung-sweeps.ts";
import { Pulse } from "../engine/pulse.ts";
import { loopActiveMs, Stalls } from "../engine/stalls.ts";
import { makeRuntimeMetrics, type RuntimeMetrics } from "../observe/metrics.ts";
import { flappingHook, sessionHooks } from "../observe/session-hooks.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { type Facts, liveness, readiness, stuckAfterMs } from "./health.ts";
import { Lifecycle } from "./lifecycle.ts";
import { type OpsServer, startOpsServer } from "./ops-server.ts";
import type { ExtraServer, OpenQueue, ServiceHost, ServiceOptions, ServiceParts } from "./options.ts";
import { SessionRun, type SessionRunParts } from "./session-run.ts";
import { TreeDoor } from "./tree-door.ts";

/** After the second bell handlers get a moment to obey; then their jobs are handed back over their heads. */
const OBEY_MS = 2_000;

export class Service {
  readonly #options: ServiceOptions;
  readonly #host: ServiceHost;
  readonly #bareLog: ServiceHost["log"];
  readonly #life: Lifecycle;
  readonly #registry = new Registry();
  readonly #metrics: RuntimeMetrics;
  readonly #pulse: Pulse;
  readonly #stalls: Stalls;
  readonly #door: TreeDoor;
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  readonly #ended: Promise<ExitCode>;
  #end: (code: ExitCode) => void = () => undefined;
  #keeper: SessionKeeper | null = null;
  #trouble: string | null = null;
  #run: SessionRun | null = null;
  #fleetId: string | null = null;
  #failing = false;
  #serving = false;
  #ops: OpsServer | null = null;
  #extra: readonly ExtraServer[] = [];
  #duties: readonly Duty[] = [];

  constructor(options: ServiceOptions, host: ServiceHost) {
    this.#options = options;
    this.#bareLog = host.log;
    this.#host = { ...host, log: host.log.child({ stage: options.service, worker: options.config.WORKER_ID }) };
    this.#life = new Lifecycle(this.#host.log, (state) => host.probe({ kind: "service", state }));
    const { SLUICE_VERSION: version, SLUICE_COMMIT: commit } = options.config;
    this.#metrics = makeRuntimeMetrics(this.#registry, { version, commit });
    this.#pulse = new Pulse(host.clock);
    this.#stalls = new Stalls(host.clock, loopActiveMs);
    this.#door = new TreeDoor({
      log: this.#host.log,
      clock: host.clock,
      metrics: this.#metrics,
      stamped: () => options.stamped?.() ?? [],
      onForeignPart: (problem) => this.fail(new Error(problem), "a part belongs to another fleet"),
    });
    this.#ended = new Promise((resolve) => (this.#end = resolve));
  }

  /** Where /metrics and the health checks are; null before `run` has opened it. */
  get opsUrl(): string | null {
    return this.#ops?.url ?? null;
  }

  /** Runs until a bell or a fatal problem ends it; answers with the exit code. */
  async run(): Promise<ExitCode> {
    const { log } = this.#host;
    log.info({ config: redactConfig(this.#options.config) }, "configuration");
    if (this.#options.config.FAILPOINTS !== "") log.warn("failpoints are set: this process will break on purpose");
    try {
      await this.#start();
    } catch (error) {
      this.fail(error, "the service could not start");
    }
    const code = await this.#ended;
    this.#life.become(code === EXIT.clean ? "stopped" : "failed");
    return code;
  }

  /** The bell: the first one drains, the second one aborts. */
  ring(): void {
    if (this.#stopping.signal.aborted) {
      this.#abort("second bell");
      return;
    }
    this.#life.become("draining");
    this.#stopping.abort();
    void this.#drain().then(
      () => this.#end(EXIT.clean),
      (error: unknown) => this.fail(error, "the shutdown failed"),
    );
  }

  /** Something is broken that only a new process can mend. */
  fail(error: unknown, what: string, code: ExitCode = EXIT.internal): void {
    this.#host.log.fatal({ err: error }, what);
    if (this.#failing) return;
    this.#failing = true;
    this.#stopping.abort();
    this.#abort(what);
    void this.#closeAll().finally(() => this.#end(code));
  }

  async #start(): Promise<void> {
    const { options, parts } = { options: this.#options, parts: this.#serviceParts() };
    this.#duties = typeof options.duties === "function" ? await options.duties(parts) : options.duties;
    this.#ops = await startOpsServer({
      host: options.config.METRICS_HOST,
      port: options.config.METRICS_PORT,
      registry: this.#registry,
      livez: () => liveness(this.#facts()),
      readyz: () => readiness(this.#facts()),
      inHand: () => this.#run?.inHand() ?? [],
    });
    this.#host.log.info({ url: this.#ops.url }, "metrics and health");
    this.#extra = options.extraServers?.(parts) ?? [];
    for (const server of this.#extra) await server.start();
    this.#serving = true;
    this.#stalls.start();
    this.#keepSession();
  }

  #serviceParts(): ServiceParts {
    const { clock, log } = this.#host;
    return {
      log,
      registry: this.#registry,
      clock,
      actor: { stage: this.#options.service, worker: this.#options.config.WORKER_ID },
      aborting: this.#aborting.signal,
      queue: () => this.#openQueue(),
      tree: () => this.#door.accepted,
      hire: (guest) => this.#run?.hire(guest) ?? null,
    };
  }

  #openQueue(): OpenQueue | null {
    return this.#run?.queue() ?? null;
  }

  #keepSession(): void {
    const { config } = this.#options;
    const { log, clock, random } = this.#host;
    this.#keeper = keepSession({
      connect: config.ZOOKEEPER_CONNECT,
      timeoutMs: config.ZK_SESSION_TIMEOUT_MS,
      access: queueAccess(config),
      clock,
      random,
      hooks: sessionHooks(this.#metrics, log),
      onFlapping: flappingHook(log),
      onTrouble: (why, retryInMs) => {
        this.#trouble = why;
        log.warn({ why, retry_in_ms: retryInMs }, "no ZooKeeper session: trying again, no work until then");
      },
    });
    const parts = this.#runParts();
    this.#keeper.onSession((session) => void this.#enterSession(parts, session));
    this.#giveUpLater(config.ZK_GIVE_UP_MS);
  }

  #giveUpLater(afterMs: number): void {
    if (afterMs === 0) return;
    const giveUp = (): void => {
      if (this.#run === null && !this.#stopping.signal.aborted)
        this.fail(new Error(`no ZooKeeper within ${afterMs} ms`), "ZooKeeper never came", EXIT.dependency);
    };
    setTimeout(giveUp, afterMs).unref();
  }

  #runParts(): SessionRunParts {
    const { service, config, workingDir } = this.#options;
    const anotherTree = (problem: string): void => this.fail(new Error(problem), "the tree is another one");
    return {
      actor: { stage: service, worker: config.WORKER_ID },
      config,
      host: this.#host,
      bareLog: this.#bareLog,
      metrics: this.#metrics,
      failpoint: makeFailpoints(service, config.FAILPOINTS),
      pulse: this.#pulse,
      claims: new Claims(),
      stalls: this.#stalls,
      hung: new HungSweeps(),
      instance: randomBytes(9).toString("base64url"),
      duties: this.#duties,
      workingDir: workingDir ?? defaultWorkingDir(config),
      stopping: this.#stopping.signal,
      aborting: this.#aborting.signal,
      isDraining: () => this.#life.state === "draining",
      url: () => this.#options.url?.(),
      door: this.#door,
      acceptFleetId: (found) => {
        this.#fleetId ??= found;
        if (found !== this.#fleetId) anotherTree(`the tree was ${this.#fleetId} and is ${found}`);
        return found === this.#fleetId;
      },
      onAnotherTree: anotherTree,
      onNameTaken: (problem) => this.fail(new Error(problem), "the worker's name is taken", EXIT.configuration),
    };
  }

  async #enterSession(parts: SessionRunParts, session: Session): Promise<void> {
    const run = new SessionRun(parts, session);
    this.#run = run;
    session.lost.addEventListener("abort", () => this.#host.probe({ kind: "session", state: "ended" }), { once: true });
    try {
      if (await run.start()) this.#life.become("running");
    } catch (error) {
      this.fail(error, "the duties could not be started");
    }
  }

  async #drain(): Promise<void> {
    const { log } = this.#host;
    const graceMs = this.#options.config.SHUTDOWN_GRACE_MS;
    log.info({ grace_ms: graceMs, jobs: this.#run?.inHand().map(({ job }) => job) }, "draining");
    void this.#run?.announceDraining();
    const drained = Promise.all([this.#run?.drained(), ...this.#extra.map((server) => this.#stopServer(server))]);
    if (!(await this.#within(graceMs, drained, this.#aborting.signal))) this.#abort("the grace period is over");
    if (!(await this.#within(OBEY_MS, drained, null))) {
      const abandoned = (await this.#run?.abandon()) ?? [];
      log.warn({ abandoned }, "handlers that did not stop were abandoned");
    }
    await this.#closeAll();
  }

  async #stopServer(server: ExtraServer): Promise<void> {
    await server.stop().catch((error: unknown) => {
      this.#host.log.error({ err: error, server: server.name }, "a server did not stop cleanly");
    });
  }

  /** False when the time, or the signal, came first. */
  async #within(ms: number, work: Promise<unknown>, sooner: AbortSignal | null): Promise<boolean> {
    const over = new AbortController();
    const signal = sooner === null ? over.signal : AbortSignal.any([over.signal, sooner]);
    const late = pause(ms, false, { signal }).catch(() => false);
    const result = await Promise.race([work.then(() => true), late]);
    over.abort();
    return result;
  }

  #abort(why: string): void {
    if (this.#aborting.signal.aborted) return;
    this.#host.log.warn({ why }, "aborting: what is in hand is handed back");
    this.#aborting.abort(new Error(why));
  }

  /** The session last, so that its locks and its node go at once; each step also when the one before failed. */
  async #closeAll(): Promise<void> {
    this.#stalls.stop();
    const steps = [() => this.#options.close?.(), () => this.#ops?.close(), () => this.#keeper?.close()];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        this.#host.log.error({ err: error }, "a step of the shutdown failed");
      }
    }
  }

  #facts(): Facts {
    const { POLL_INTERVAL_MS: pollMs, IDLE_POLL_INTERVAL_MS: idlePollMs } = this.#options.config;
    return {
      life: this.#life.state,
      session: this.#keeper?.current()?.state ?? null,
      trouble: this.#trouble,
      tree: this.#door.problem,
      flapping: this.#keeper?.flapping ?? false,
      sinceQueueSeenMs: this.#duties.length === 0 ? null : this.#pulse.sinceQueueSeenMs(),
      pollMs,
      idlePollMs,
      stuck: this.#pulse.stuck(stuckAfterMs(pollMs, idlePollMs)),
      // Before the servers listen there is nothing that could take anything.
      standIn: this.#serving ? (this.#options.standIn?.() ?? null) : null,
    };
  }
}

function defaultWorkingDir(config: object): (job: JobPlace) => string {
  const folder = "WORKING_DIR" in config && typeof config.WORKING_DIR === "string" ? config.WORKING_DIR : "";
  return (job) => (folder === "" ? "" : join(folder, jobFolder(job)));
}
