import type { Log } from "../log.ts";

export type ZooKeeperSource = "environment" | "installed" | "docker" | "apt";

/** Files in PEM. With them the server speaks TLS only, on its one port, and lets nobody in without a certificate. */
export interface ServerTls {
  /** Of the server: its key and, behind it, its certificate, in one file. */
  readonly keyStoreFile: string;
  /** Whose certificates it takes. */
  readonly caFile: string;
  /** As whom we ask whether it serves. */
  readonly probe: { readonly certFile: string; readonly keyFile: string };
}

/** The servers of an ensemble; each serves when most of them do. */
export interface Quorum {
  /** Which of them this one is, from 1. */
  readonly id: number;
  /** Ports of this machine: where followers reach the leader, and where it is elected. */
  readonly servers: readonly { readonly quorumPort: number; readonly electionPort: number }[];
}

export interface ZooKeeperOptions {
  /** Data, configuration and log of the server; kept over restarts. Needed unless `ephemeralData`. */
  readonly dataDir?: string;
  /** For tests: a small fast server without fsync, whose data are removed by `stop`. */
  readonly ephemeralData?: boolean;
  /** Default 1024; 256 with ephemeral data. */
  readonly heapMb?: number;
  /** Default 2000; 200 with ephemeral data. Sessions expire in steps of it. */
  readonly tickTimeMs?: number;
  /** Default: the port of the last start on the same data, if free, else any free one. */
  readonly port?: number;
  readonly tls?: ServerTls;
  /** It is one of several. */
  readonly quorum?: Quorum;
  readonly log?: Log;
  /** Default process.env. Read: ZOOKEEPER_CONNECT, ZOOKEEPER_LOG_DIR, ZOOKEEPER_HOME, JAVA_HOME, SLUICE_ZOOKEEPER_IMAGE. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface RunningZooKeeper {
  /** For clients: "127.0.0.1:port", or ZOOKEEPER_CONNECT as it is. */
  readonly connect: string;
  readonly source: ZooKeeperSource;
  /** Only of a process that we started. */
  readonly pid?: number;
  readonly dataDir?: string;
  /** Where the transaction log's files are, if they can be read from here. */
  readonly logDir?: string;
  /** Resolves with the reason when the server ends, whoever ended it. Never for ZOOKEEPER_CONNECT. */
  readonly exited: Promise<string>;
  /** SIGKILL and SIGTERM return when the server has ended, others when sent. Does nothing to ZOOKEEPER_CONNECT. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Ends the server and, if ephemeral, removes its data. Does nothing to ZOOKEEPER_CONNECT. */
  stop(): Promise<void>;
}

/** Options with every default filled in: what the ways work from. */
export interface Request {
  readonly dataDir: string;
  readonly ephemeralData: boolean;
  readonly heapMb: number;
  readonly tickTimeMs: number;
  readonly port: number | null;
  readonly tls: ServerTls | null;
  readonly quorum: Quorum | null;
  readonly log: Log;
  readonly env: NodeJS.ProcessEnv;
}

/** `final`: no other way may be tried, since that would do harm. */
export type Attempt =
  | { readonly ok: true; readonly server: RunningZooKeeper }
  | { readonly ok: false; readonly reason: string; readonly final?: true };

export interface Way {
  readonly name: string;
  attempt(request: Request, signal: AbortSignal): Promise<Attempt>;
}

export const failed = (reason: string): Attempt => ({ ok: false, reason });

/** A way nobody asked for: not worth a line in the log. */
export const NOT_SET = "not set";
