/** The service in one session: everything is made new, and dropped as a whole when the session is lost. */
import type { Actor, FleetIdentity, JobPlace, QueueContext } from "@sluice/queue-core";
import { makeCommitter, type Session } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { BaseConfig } from "../config/base-config.ts";
import type { Duty } from "../duty.ts";
import type { Log } from "../log.ts";
import { startDuty } from "../duties/start-duty.ts";
import type { Claims } from "../engine/claims.ts";
import type { Failpoint } from "../engine/failpoints.ts";
import { FleetIdGuard } from "../engine/fleet-id-guard.ts";
import { Gate } from "../engine/gate.ts";
import type { HungSweeps } from "../engine/hung-sweeps.ts";
import { type HandEntry, InHand } from "../engine/in-hand.ts";
import { Members } from "../engine/members.ts";
import type { Pulse } from "../engine/pulse.ts";
import type { RunningDuty } from "../engine/running-duty.ts";
import { isOurFault, type Stalls } from "../engine/stalls.ts";
import type { Scope } from "../engine/scope.ts";
import type { RuntimeMetrics } from "../observe/metrics.ts";
import { committerHooks } from "../observe/session-hooks.ts";
import { type Guest, GuestRun, type HiredGuest } from "./guest.ts";
import type { OpenQueue, ServiceHost } from "./options.ts";
import { Registration } from "./registration.ts";
import type { TreeDoor } from "./tree-door.ts";

/** What stays the same from session to session. */
export interface SessionRunParts {
  readonly actor: Actor;
  readonly config: BaseConfig;
  readonly host: ServiceHost;
  /** Without the names of this worker. */
  readonly bareLog: Log;
  readonly metrics: RuntimeMetrics;
  readonly failpoint: Failpoint;
  readonly pulse: Pulse;
  readonly claims: Claims;
  readonly stalls: Stalls;
  readonly hung: HungSweeps;
  /** Random, made once by this process. */
  readonly instance: string;
  readonly duties: readonly Duty[];
  readonly workingDir: (job: JobPlace) => string;
  readonly stopping: AbortSignal;
  readonly aborting: AbortSignal;
  readonly isDraining: () => boolean;
  /** Where others of its kind reach this process. */
  readonly url: () => string | undefined;
  readonly door: TreeDoor;
  /** Compares the tree's name with the one this process knows; false = another tree, the service ends. */
  readonly acceptFleetId: (fleetId: string) => boolean;
  readonly onAnotherTree: (problem: string) => void;
  readonly onNameTaken: (problem: string) => void;
}

/** In whose name the engine works. */
interface Who {
  readonly actor: Actor;
  readonly concurrency: number;
  readonly log: Log;
  readonly inHand: InHand;
  /** Ends it before the process ends. */
  readonly leaving: AbortSignal | null;
}

export class SessionRun {
  readonly #parts: SessionRunParts;
  readonly #session: Session;
  readonly #queue: QueueContext;
  readonly #own: InHand;
  readonly #guests = new Set<GuestRun>();
  #running: readonly RunningDuty[] = [];
  #registration: Registration | null = null;
  #identity: FleetIdentity | null = null;

  constructor(parts: SessionRunParts, session: Session) {
    this.#parts = parts;
    this.#session = session;
    const committer = makeCommitter(session, committerHooks(parts.metrics));
    this.#queue = { session, committer, clock: parts.host.clock, newId: () => randomBytes(9).toString("base64url") };
    this.#own = new InHand(parts.host.clock);
    session.lost.addEventListener("abort", () => this.#lost(), { once: true });
  }

  inHand(): readonly HandEntry[] {
    return [this.#own, ...[...this.#guests].map((guest) => guest.inHand)].flatMap((inHand) => inHand.list());
  }

  /** null: this process is not at work, or takes nothing more. */
  hire(guest: Guest): HiredGuest | null {
    const identity = this.#identity;
    if (identity === null || this.#session.lost.aborted || this.#parts.stopping.aborted) return null;
    const leaving = new AbortController();
    const actor = { stage: guest.stage, worker: guest.worker };
    const scope = this.#scope(identity, {
      actor,
      concurrency: guest.concurrency,
      log: this.#parts.bareLog.child(actor),
      inHand: new InHand(this.#parts.host.clock),
      leaving: leaving.signal,
    });
    const { instance, actor: self } = this.#parts;
    const over = AbortSignal.any([this.#session.lost, leaving.signal]);
    const run = new GuestRun(guest, { scope, leaving, over, instance, self: self.worker });
    this.#guests.add(run);
    over.addEventListener("abort", () => void run.drained().then(() => this.#guests.delete(run)), { once: true });
    return run;
  }

  queue(): OpenQueue | null {
    return this.#identity === null || this.#session.lost.aborted
      ? null
      : { context: this.#queue, identity: this.#identity };
  }

  /** True when the duties have been started; false when the session, or the service, ended before. */
  async start(): Promise<boolean> {
    const { host, acceptFleetId, duties, stopping } = this.#parts;
    const identity = await this.#parts.door.enter(this.#queue);
    if (identity === null || !acceptFleetId(identity.history)) return false;
    const { actor, config } = this.#parts;
    const own = { actor, concurrency: config.STAGE_CONCURRENCY, log: host.log, inHand: this.#own, leaving: null };
    const scope = this.#scope(identity, own);
    const registration = new Registration({
      scope,
      version: this.#parts.config.SLUICE_VERSION,
      instance: this.#parts.instance,
      isDraining: this.#parts.isDraining,
      url: this.#parts.url(),
      onNameTaken: this.#parts.onNameTaken,
    });
    if (!(await registration.enter())) return false;
    this.#registration = registration;
    void registration.keep();
    void scope.fleetIdGuard.check();
    this.#identity = identity;
    void this.#takeBackClaims();
    if (stopping.aborted) return false;
    this.#running = duties.map((duty) => startDuty(duty, scope));
    host.probe({ kind: "session", state: "started" });
    host.log.info(
      { fleet: identity.fleet, epoch: identity.epoch, duties: this.#running.map(({ name }) => name) },
      "at work",
    );
    return true;
  }

  /** What was in hand is cut short: an outage is no fault of the jobs, a handler that does not let us answer is. */
  #lost(): void {
    const { claims, stalls, metrics, actor, host } = this.#parts;
    const stalledMs = stalls.withinMs(this.#session.timeoutMs);
    const counted = isOurFault(stalledMs, this.#session.timeoutMs);
    const jobs = claims.lost(counted, { worker: actor.worker, atMs: host.clock.nowMs(), newId: this.#queue.newId });
    if (!counted) return;
    metrics.stalls.inc({ stage: actor.stage });
    host.log.error(
      { jobs, stalled_ms: Math.round(stalledMs) },
      "the session was lost because the event loop stood still: the attempts of the jobs in hand count",
    );
  }

  /** The old session's locks stand until the server ends it: an attempt is taken back when its lock is gone, not before. */
  async #takeBackClaims(): Promise<void> {
    const { claims, host } = this.#parts;
    while (claims.pending && !this.#session.lost.aborted) {
      const jobs = await claims.takeBack(this.#queue);
      if (jobs.length > 0) host.log.info({ jobs }, "attempts cut short by a lost session do not count");
      await pause(TAKE_BACK_RETRY_MS, undefined, { ref: false });
    }
  }

  /** After the first bell: when everything in hand is settled. */
  async drained(): Promise<void> {
    await Promise.all([
      ...this.#running.map(({ ended }) => ended),
      ...[...this.#guests].map((guest) => guest.drained()),
    ]);
  }

  /** Guests may be hired elsewhere at once. */
  async announceDraining(): Promise<void> {
    await Promise.all([this.#registration?.announce(), ...[...this.#guests].map((guest) => guest.leave())]);
  }

  /** Gives back what is still in hand; answers with its ids. */
  async abandon(): Promise<readonly string[]> {
    return (await Promise.all([...this.#running, ...this.#guests].map((each) => each.abandon()))).flat();
  }

  #scope(identity: FleetIdentity, { actor, concurrency, log, inHand, leaving }: Who): Scope {
    const { config, host, metrics, failpoint, pulse, claims, hung, workingDir } = this.#parts;
    const { clock, random, probe } = host;
    const session = this.#session;
    const stopping = leaving === null ? this.#parts.stopping : AbortSignal.any([this.#parts.stopping, leaving]);
    return {
      actor,
      queue: this.#queue,
      identity,
      settings: {
        concurrency,
        pollMs: config.POLL_INTERVAL_MS,
        idlePollMs: config.IDLE_POLL_INTERVAL_MS,
        attemptsMax: config.ATTEMPTS_MAX,
      },
      log,
      metrics,
      probe,
      failpoint,
      random,
      stopping: either(session.lost, stopping),
      aborting: either(session.lost, this.#parts.aborting),
      gate: new Gate(session, actor, clock),
      members: new Members(session, actor, clock, random),
      fleetIdGuard: new FleetIdGuard(session, identity.history, clock, this.#parts.onAnotherTree),
      inHand,
      claims,
      hung,
      pulse,
      workingDir,
    };
  }
}

const TAKE_BACK_RETRY_MS = 250;

/** Many handlers listen to it: that is no leak. */
function either(a: AbortSignal, b: AbortSignal): AbortSignal {
  const signal = AbortSignal.any([a, b]);
  setMaxListeners(0, signal);
  return signal;
}
