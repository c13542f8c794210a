/** Our entry in the registry of workers, session after session: registered, beating, harvesting the others now and then. */
import {
  type HarvestPorts,
  openWorkers,
  type Patience,
  type Registration,
  releaseSysid,
  reserveSysid,
  type Told,
  type Workers,
} from "@sluice/job-workers";
import type { Log } from "@sluice/stage-runtime";
import type { Session } from "@sluice/zookeeper";
import { randomUUID } from "node:crypto";
import { isOver } from "../run/types.ts";
import { privateAddress } from "./machine.ts";

export interface PresencePorts {
  /** The present session whose tree is ready; null while there is none. */
  readonly session: () => Session | null;
  readonly name: string;
  readonly publicIp: string;
  /** Whether it runs the fleet's own jobs: others then leave those to it. */
  readonly system: boolean;
  readonly heartbeatMs: number;
  /** On average: each time another interval is drawn. */
  readonly harvestMs: number;
  readonly patience: Patience;
  readonly stats: () => { readonly Cpu: number; readonly Mem: number };
  readonly random: () => number;
  readonly nowMs: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  readonly releaseWorker: (name: string) => Promise<boolean>;
  /** Shuts down the instances of the dead; null: nobody is told of them. */
  readonly hook: HarvestPorts["hook"];
  readonly onPresent: (present: boolean, why: string) => void;
  /** After each harvest: how many were declared dead. */
  readonly onDead: (workers: number) => void;
  /** After each harvest: how the hook was called for dead workers. */
  readonly onHooks: (hooks: Told) => void;
  /** After each harvest: who is alive. */
  readonly onAlive: (names: ReadonlySet<string>) => Promise<void>;
}

const LOOK_MS = 250;

export class Presence {
  readonly #ports: PresencePorts;
  readonly #stopping = new AbortController();
  readonly #instance = randomUUID();
  #registration: Registration | null = null;
  #session: Session | null = null;
  #running: Promise<void> | null = null;
  #job = "";
  #writing = false;

  constructor(ports: PresencePorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#running = this.#keep();
  }

  /** Shown as soon as the write before is done; of several in a row the last. */
  setJob(job: string): void {
    this.#job = job;
    if (!this.#writing)
      this.#writeJob().catch((error: unknown) => {
        this.#writing = false;
        this.#ports.log.warn({ err: error }, "the registry could not be told of the job");
      });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    const { sysid } = this.#registration?.entry ?? {};
    await this.#registration?.leave();
    if (this.#session !== null && sysid !== undefined) await releaseSysid(this.#session, sysid);
  }

  async #writeJob(): Promise<void> {
    this.#writing = true;
    const registration = this.#registration;
    while (registration !== null && !registration.over.aborted && registration.entry.Job !== this.#job)
      await registration.setJob(this.#job);
    this.#writing = false;
  }

  async #keep(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const session = this.#ports.session();
      const workers = session === null ? null : await this.#enter(session);
      if (workers === null || this.#registration === null) {
        await this.#ports.pause(LOOK_MS, signal);
        continue;
      }
      const { over } = this.#registration;
      this.#ports.onPresent(true, "registered");
      await Promise.all([this.#beat(this.#registration), this.#harvestOn(workers, over)]);
      if (!isOver(signal)) this.#ports.onPresent(false, over.reason instanceof Error ? over.reason.message : "over");
    }
  }

  async #enter(session: Session): Promise<Workers | null> {
    const { name, publicIp, system, nowMs, log } = this.#ports;
    this.#registration = null;
    const opened = await openWorkers(session, nowMs);
    if (!opened.ok) return null;
    const reserved = await reserveSysid(session, `${this.#instance}.${randomUUID()}`);
    if (!reserved.ok) return null;
    const { sysid } = reserved;
    const place = { InstanceId: this.#instance, PrivateIp: privateAddress(), PublicIp: publicIp };
    const facts = { Name: name, ...place, sysid, ...(system ? { System: true as const } : {}) };
    const registering = await opened.workers.register(facts);
    if (!registering.ok) {
      log.info({ why: registering.why }, "not registered yet");
      await releaseSysid(session, sysid);
      // One of our name was declared dead, and we are the first to come by: nobody else may be there to give its jobs back.
      if (registering.why === "harvested") await this.#harvest(opened.workers);
      return null;
    }
    this.#session = session;
    this.#registration = registering.registration;
    return opened.workers;
  }

  async #beat(registration: Registration): Promise<void> {
    const signal = AbortSignal.any([registration.over, this.#stopping.signal]);
    while (!signal.aborted) {
      await registration.heartbeat(this.#ports.stats());
      await this.#ports.pause(this.#ports.heartbeatMs, signal);
    }
  }

  /** At random intervals, so that many workers do not come at once and none is the one that does it. */
  async #harvestOn(workers: Workers, over: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([over, this.#stopping.signal]);
    while (!signal.aborted) {
      await this.#ports.pause(this.#ports.harvestMs * (0.5 + this.#ports.random()), signal);
      if (!isOver(signal)) await this.#harvest(workers);
    }
  }

  async #harvest(workers: Workers): Promise<void> {
    const { patience, releaseWorker, hook, log, onDead, onHooks } = this.#ports;
    const did = await workers.harvest({ patience, releaseWorker, hook });
    if (did !== null) {
      const { hooks, ...workersOf } = did;
      if (Object.values(workersOf).some((names) => names.length > 0)) log.info(workersOf, "workers harvested");
      if (hooks.told.length > 0) log.info({ deaths: hooks.told }, "DEAD_WORKER_HOOK was told");
      if (hooks.failed.length > 0)
        log.warn({ deaths: hooks.failed }, "DEAD_WORKER_HOOK was not heard: it is told again");
      if (hooks.givenUp.length > 0)
        log.error({ deaths: hooks.givenUp }, "DEAD_WORKER_HOOK was never heard: shut these instances down by hand");
      onHooks(hooks);
    }
    onDead(did?.declared.length ?? 0);
    const listed = await workers.list();
    if (listed === null) return;
    await this.#ports.onAlive(
      new Set(listed.filter(({ entry }) => entry.Status === "ALIVE").map(({ entry }) => entry.Name)),
    );
  }
}
