/** Straight to ZooKeeper, past the admin service: for the day when there is none. */
import { type Operator, queueAccess, type QueueContext } from "@sluice/queue-core";
import {
  type Committer,
  ensureChroot,
  makeCommitter,
  openSession,
  parseConnect,
  readZooKeeperSettings,
  systemClock,
} from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";
import type { Option } from "../command.ts";
import { type Context, stop } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export const ZOOKEEPER: Option = {
  name: "zookeeper",
  value: "HOSTS",
  says: "straight to ZooKeeper (host:port,host:port/chroot), past the admin service and its roles; TLS and identity by the services' ZOOKEEPER_* settings",
};

const SESSION_TIMEOUT_MS = 30_000;
const CONNECT_WITHIN_MS = 10_000;

export interface OpenQueue extends QueueContext {
  readonly committer: Committer;
}

export interface QueueOptions {
  /** The chroot that HOSTS names is made if it is not there. */
  readonly makesRoot?: boolean;
}

/** Runs `work` with a session of its own, which ends with it. */
export async function withQueue(
  context: Context,
  hosts: string,
  work: (queue: OpenQueue) => Promise<ExitCode>,
  { makesRoot = false }: QueueOptions = {},
): Promise<ExitCode> {
  const wrong = connectProblem(hosts);
  if (wrong !== null) return stop(context, EXIT.usage, `--zookeeper ${hosts}: ${wrong}`);
  const read = readZooKeeperSettings(hosts, context.io.env);
  if (!read.ok) return stop(context, EXIT.usage, read.problems.join("; "));
  context.printer.note(
    `WARNING: straight to ZooKeeper at ${hosts}. No role is checked; changes stand in the audit under your system name.`,
  );
  const options = {
    connect: hosts,
    timeoutMs: SESSION_TIMEOUT_MS,
    connectWithinMs: CONNECT_WITHIN_MS,
    access: queueAccess(read.settings),
    signal: context.io.interrupted,
  };
  const rootless = makesRoot ? await ensureChroot(options) : null;
  const opened = rootless === null ? await openSession(options) : ({ ok: false, why: rootless } as const);
  if (!opened.ok) return stop(context, EXIT.error, opened.why, "is ZooKeeper running there?");
  const { session } = opened;
  const newId = (): string => randomBytes(9).toString("base64url");
  try {
    return await work({ session, committer: makeCommitter(session), clock: systemClock, newId });
  } finally {
    await session.close();
  }
}

function connectProblem(hosts: string): string | null {
  try {
    parseConnect(hosts);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** In the audit it can be told from a caller of the API. */
export const directOperator = ({ io }: Context, reason: string): Operator => ({ name: `${io.user} (direct)`, reason });
