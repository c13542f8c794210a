/** A real ZooKeeper for a test file: a part of the run's shared server, or a server of its own. */
import { startZooKeeper, type RunningZooKeeper, type ZooKeeperOptions } from "@sluice/local-parts";
import { randomBytes } from "node:crypto";
import { rememberBeginning } from "./beginnings.ts";
import { openRawSession, parseConnect } from "./raw-session.ts";

export interface TestZooKeeper {
  /** For clients: host:port/t-random. Their "/" is `root` of the server. */
  readonly connect: string;
  /** As the server, and so its transaction log, sees it. */
  readonly root: string;
  /** Where the server's transaction log is. Throws if it cannot be read from here. */
  readonly logDir: string;
}

/** An empty tree of its own on the server that `npm test` started: a few milliseconds. */
export async function testZooKeeper(): Promise<TestZooKeeper> {
  const shared = process.env["SLUICE_TEST_ZK"];
  if (shared === undefined)
    throw new Error("SLUICE_TEST_ZK is not set: jest's global setup starts ZooKeeper and sets it");
  const name = `/t-${randomBytes(6).toString("hex")}`;
  const session = await openRawSession(shared);
  const made = await session.multi([{ op: "create", path: name, data: Buffer.alloc(0) }]);
  await session.close();
  if (!made.ok) throw new Error(`cannot create ${name}: ${made.detail}`);
  const connect = `${shared}${name}`;
  rememberBeginning(name, made.zxid);
  return {
    connect,
    root: parseConnect(connect).chroot,
    get logDir() {
      return readableLog(process.env["SLUICE_TEST_ZK_LOG"]);
    },
  };
}

export interface OwnZooKeeper extends TestZooKeeper {
  readonly pid: number | undefined;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Ends it if it still runs, and starts it again on the same port and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A server that this test alone uses, and so may stop, kill and restart. Stop it in afterEach or afterAll. */
export async function ownZooKeeper(options: ZooKeeperOptions = {}): Promise<OwnZooKeeper> {
  // A server named by the environment is somebody else's: nothing to kill.
  const env: NodeJS.ProcessEnv = { ...(options.env ?? process.env), ZOOKEEPER_CONNECT: "" };
  const first = await startZooKeeper({ ephemeralData: true, ...options, env });
  let current: RunningZooKeeper = first;
  return {
    connect: first.connect,
    root: "/",
    get logDir() {
      return readableLog(first.logDir);
    },
    get pid() {
      return current.pid;
    },
    kill: (signal) => current.kill(signal),
    restart: async () => {
      await current.kill("SIGKILL");
      const kept = { dataDir: first.dataDir ?? "", port: parseConnect(first.connect).port };
      current = await startZooKeeper({ ephemeralData: true, ...options, ...kept, env });
    },
    stop: () => current.stop(),
  };
}

function readableLog(logDir: string | undefined): string {
  if (logDir !== undefined) return logDir;
  throw new Error(
    "the transaction log of ZOOKEEPER_CONNECT is not known: set ZOOKEEPER_LOG_DIR, or unset ZOOKEEPER_CONNECT",
  );
}
