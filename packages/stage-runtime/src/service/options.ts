import type { Actor, FleetIdentity, JobPlace, QueueContext } from "@sluice/queue-core";
import type { Clock } from "@sluice/zookeeper";
import type { Registry } from "prom-client";
import type { BaseConfig } from "../config/base-config.ts";
import type { Duty } from "../duty.ts";
import type { Probe } from "../engine/probes.ts";
import type { Log } from "../log.ts";
import type { Guest, HiredGuest } from "./guest.ts";
import type { StampedPart } from "./stamped-part.ts";

/** What duties and servers of a service are made from. */
export interface ServiceParts {
  readonly log: Log;
  /** For the service's own metrics. */
  readonly registry: Registry;
  readonly clock: Clock;
  readonly actor: Actor;
  /** Aborts at the second bell. */
  readonly aborting: AbortSignal;
  /** The queue in the present session; null while there is none. Ask again for each piece of work. */
  readonly queue: () => OpenQueue | null;
  /** The tree that this process belongs to; null until it has met one. */
  readonly tree: () => FleetIdentity | null;
  /** Claims for a worker elsewhere, in the present session; null while nothing can be claimed. */
  readonly hire: (guest: Guest) => HiredGuest | null;
}

/** A session whose tree is ready. */
export interface OpenQueue {
  readonly context: QueueContext;
  readonly identity: FleetIdentity;
}

/** A listener of the service's own (an HTTP API): started with the service, stopped while its work drains. */
export interface ExtraServer {
  readonly name: string;
  /** Rejects if it cannot be started: the service then fails. */
  start(): Promise<void>;
  /** Takes no more, answers what it has. */
  stop(): Promise<void>;
}

/** Something that takes what comes while the queue cannot be reached, as a check: `ok` = it can take more. */
export interface StandIn {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface ServiceOptions {
  /** Name of the service and of its stage. */
  readonly service: string;
  readonly config: BaseConfig;
  readonly duties: readonly Duty[] | ((parts: ServiceParts) => readonly Duty[] | Promise<readonly Duty[]>);
  readonly extraServers?: (parts: ServiceParts) => readonly ExtraServer[];
  /** Of a service that is of use without ZooKeeper too: it is ready as long as this is ok, and never when it is not. */
  readonly standIn?: () => StandIn;
  /** Where others of its kind reach it; stands in its worker's node. Asked for when its servers listen. */
  readonly url?: () => string;
  /** What it keeps outside the tree, each of one fleet: asked for after `duties`, checked before any work. */
  readonly stamped?: () => readonly StampedPart[];
  /** Closes what `duties` opened (a database), after the last handler has returned. */
  readonly close?: () => Promise<void>;
  /** Where a new job's working folder is; default: below WORKING_DIR, where the config has it. */
  readonly workingDir?: (job: JobPlace) => string;
}

/** The outside world of a service, bound to the process by `runService`; tests pass parts of their own. */
export interface ServiceHost {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly probe: Probe;
}
