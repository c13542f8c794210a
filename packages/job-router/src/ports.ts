/** What a router is given: sessions, time, a place to listen, and somebody to tell. */
import type { Layout, OwnerPorts, RedoLog, RunArchive } from "@sluice/job-queue";
import type { Clock, SessionKeeper } from "@sluice/zookeeper";
import type { RouterHooks } from "./metrics.ts";

/** Wakes us later; returns the way to stop it. */
export type Later = (ms: number, wake: () => void) => () => void;

export type SessionSource = Pick<SessionKeeper, "current" | "onSession">;

/** Shards that do not stand in the first ensemble. Every process must be told the same; the tree holds it to that. */
export interface OtherEnsembles {
  readonly sessions: ReadonlyMap<string, SessionSource>;
  /** Shard → the name of its ensemble. */
  readonly shards: Readonly<Record<string, string>>;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface PeerPorts {
  /** Where we listen for peers; port 0: any. Without a secret the host must be of the loopback. */
  readonly listen: Address;
  /** Where peers find us, if that is another address. */
  readonly advertise?: Partial<Address>;
  /** Both sides of a connection prove that they know it; null: nobody has to, on this machine. */
  readonly secret: string | null;
}

export interface RouterLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface Archiving {
  readonly archive: RunArchive;
  /** Runs that ended longer ago leave the tree. */
  readonly olderThanMs: number;
  /** How often they are looked for; five minutes unless said. */
  readonly everyMs?: number;
}

export interface RouterPorts {
  /** Unique among the processes that serve the queue. */
  readonly apiId: string;
  readonly session: SessionSource;
  readonly others?: OtherEnsembles;
  /** Tenants with a shard by hand; counts only when the tree is new. */
  readonly tenants?: Layout["tenants"];
  readonly peers: PeerPorts;
  readonly clock: Clock;
  readonly later: Later;
  readonly log: RouterLog;
  readonly hooks?: RouterHooks;
  readonly archiving?: Archiving;
  /** Of the shards in the first ensemble. */
  readonly redo?: RedoLog;
  /** Turns between tenants; 1 unless said. */
  readonly tenantWeights?: ReadonlyMap<string, number>;
  /** By TENANT/NAME; 1 unless said. */
  readonly typeWeights?: ReadonlyMap<string, number>;
  readonly pipelineHooks?: NonNullable<OwnerPorts["hooks"]>;
  readonly limits?: NonNullable<OwnerPorts["limits"]>;
}
