import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { partFolder } from "../folders.ts";
import { messageOf, silent } from "../log.ts";
import { fromApt } from "./apt.ts";
import { fromDocker } from "./docker.ts";
import { fromEnvironment } from "./environment.ts";
import { fromDebian, fromHome } from "./installed.ts";
import {
  failed,
  NOT_SET,
  type Attempt,
  type Request,
  type RunningZooKeeper,
  type Way,
  type ZooKeeperOptions,
} from "./types.ts";

const WAY_LIMIT_MS = 60_000;
/** Of the limit, for cleaning up after it. */
const CLEAN_UP_FACTOR = 0.25;
const WAYS: readonly Way[] = [fromEnvironment, fromHome, fromDebian, fromDocker, fromApt];

const ADVICE = [
  "Any one of these gives Sluice a ZooKeeper:",
  "  - set ZOOKEEPER_CONNECT=host:port to a running one",
  "  - set ZOOKEEPER_HOME to an unpacked Apache ZooKeeper (and have Java)",
  "  - start Docker",
  "  - on Debian or Ubuntu: apt-get install zookeeper, or run this as root",
].join("\n");

/**
 * A real ZooKeeper: the one that ZOOKEEPER_CONNECT names, else one that we start on a loopback port: installed, in
 * Docker, or installed by apt. A way that fails or takes over a minute gives way to the next.
 * Throws, with what was tried and what would help, when there is none.
 */
export async function startZooKeeper(options: ZooKeeperOptions): Promise<RunningZooKeeper> {
  const request = await fillIn(options);
  const dropUnused = () =>
    options.dataDir === undefined ? rm(request.dataDir, { recursive: true, force: true }) : null;
  try {
    const server = await searchWays(WAYS, request, WAY_LIMIT_MS);
    if (server.dataDir === undefined) await dropUnused();
    return server;
  } catch (error) {
    await dropUnused();
    throw error;
  }
}

/** Apart from the list of ways, so that the order can be tried with ways of which the machine has none. */
export async function searchWays(ways: readonly Way[], request: Request, limitMs: number): Promise<RunningZooKeeper> {
  const tried: string[] = [];
  for (const way of ways) {
    const attempt = await attemptInTime(way, request, limitMs);
    if (attempt.ok) {
      request.log(`ZooKeeper at ${attempt.server.connect} (${way.name})`);
      return attempt.server;
    }
    tried.push(`  - ${way.name}: ${attempt.reason}`);
    if (attempt.reason !== NOT_SET) request.log(`no ZooKeeper by ${way.name}: ${attempt.reason}`);
    if (attempt.final === true) break;
  }
  throw new Error(`No ZooKeeper. Tried:\n${tried.join("\n")}\n${ADVICE}`);
}

/**
 * At the limit a way is told to give up and gets a moment to clean up: the next one works on the same directory.
 * One that cannot give up (a pull of an image) is left behind, and its server ended should it still come.
 */
async function attemptInTime(way: Way, request: Request, limitMs: number): Promise<Attempt> {
  const settled = new AbortController();
  const attempt = way
    .attempt(request, AbortSignal.timeout(limitMs))
    .catch((error: unknown) => failed(messageOf(error)));
  const limit = sleep((1 + CLEAN_UP_FACTOR) * limitMs, failed("took too long"), { signal: settled.signal });
  const first = await Promise.race([attempt, limit]);
  settled.abort();
  limit.catch(() => undefined);
  if (!first.ok) void attempt.then((late) => (late.ok ? late.server.stop() : undefined));
  return first;
}

async function fillIn(options: ZooKeeperOptions): Promise<Request> {
  const ephemeralData = options.ephemeralData ?? false;
  return {
    dataDir: await dataDirOf(options),
    ephemeralData,
    heapMb: options.heapMb ?? (ephemeralData ? 256 : 1024),
    tickTimeMs: options.tickTimeMs ?? (ephemeralData ? 200 : 2000),
    port: options.port ?? null,
    tls: options.tls ?? null,
    quorum: options.quorum ?? null,
    log: options.log ?? silent,
    env: options.env ?? process.env,
  };
}

async function dataDirOf({ dataDir, ephemeralData }: ZooKeeperOptions): Promise<string> {
  if (dataDir !== undefined) return resolve(dataDir);
  if (ephemeralData !== true) throw new Error("dataDir is needed for data that shall be kept");
  return partFolder("zookeeper");
}
