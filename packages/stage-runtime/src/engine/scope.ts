/** All that the duties of one session work with. A new session gets a new one; only its claims are carried over. */
import type { Actor, FleetIdentity, JobPlace, QueueContext } from "@sluice/queue-core";
import type { Log } from "../log.ts";
import type { RuntimeMetrics } from "../observe/metrics.ts";
import type { Claims } from "./claims.ts";
import type { Failpoint } from "./failpoints.ts";
import type { FleetIdGuard } from "./fleet-id-guard.ts";
import type { Gate } from "./gate.ts";
import type { HungSweeps } from "./hung-sweeps.ts";
import type { InHand } from "./in-hand.ts";
import type { Members } from "./members.ts";
import type { Probe } from "./probes.ts";
import type { Pulse } from "./pulse.ts";

export interface EngineSettings {
  readonly concurrency: number;
  readonly pollMs: number;
  readonly idlePollMs: number;
  readonly attemptsMax: number;
}

export interface Scope {
  readonly actor: Actor;
  readonly queue: QueueContext;
  readonly identity: FleetIdentity;
  readonly settings: EngineSettings;
  readonly log: Log;
  readonly metrics: RuntimeMetrics;
  readonly probe: Probe;
  readonly failpoint: Failpoint;
  readonly random: () => number;
  /** The first bell, or the end of the session: take nothing new. */
  readonly stopping: AbortSignal;
  /** The second bell, or the end of the session: stop what is under way. */
  readonly aborting: AbortSignal;
  readonly gate: Gate;
  readonly members: Members;
  readonly fleetIdGuard: FleetIdGuard;
  readonly inHand: InHand;
  readonly claims: Claims;
  readonly hung: HungSweeps;
  readonly pulse: Pulse;
  readonly workingDir: (job: JobPlace) => string;
}

/** The session is over: whatever was bound to it is dropped, and nothing more is written. */
export const isLost = (scope: Pick<Scope, "queue">): boolean => scope.queue.session.lost.aborted;
