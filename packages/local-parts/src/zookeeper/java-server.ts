import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startChild, type Child } from "../child.ts";
import { messageOf } from "../log.ts";
import { configurationText, jvmFlags, layoutOf } from "./configuration.ts";
import { untilServing, type Door } from "./four-letter-word.ts";
import { endOrphan, type PidRecord } from "./orphan.ts";
import { choosePort } from "./port.ts";
import { failed, type Attempt, type Request, type RunningZooKeeper, type ZooKeeperSource } from "./types.ts";

const MAIN_CLASS = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
const LOG_TAIL_LINES = 5;
const PORT_TRIES = 3;

export interface JavaInstallation {
  readonly classPath: string;
  readonly source: ZooKeeperSource;
}

/** A real server as a child process, on a loopback port. */
export async function startJavaServer(
  installation: JavaInstallation,
  request: Request,
  signal: AbortSignal,
): Promise<Attempt> {
  const occupied = await endOrphan(request.dataDir, request.log);
  if (occupied !== null) return { ok: false, final: true, reason: occupied };
  let attempt = await tryPort(installation, request, signal);
  // Between our look at a port and the server's bind somebody else may take it.
  for (let tries = 1; tries < PORT_TRIES && request.port === null && portWasTaken(attempt); tries++) {
    attempt = await tryPort(installation, request, signal);
  }
  return attempt;
}

const portWasTaken = (attempt: Attempt): boolean => !attempt.ok && attempt.reason.includes("Address already in use");

async function tryPort(installation: JavaInstallation, request: Request, signal: AbortSignal): Promise<Attempt> {
  const { configFile, logFile, pidFile, data } = layoutOf(request.dataDir);
  const port = await choosePort(request);
  await mkdir(data, { recursive: true });
  if (existsSync(logFile)) await rename(logFile, `${logFile}.1`);
  if (request.quorum !== null) await writeFile(join(data, "myid"), String(request.quorum.id));
  await writeFile(configFile, configurationText(request, { data, port, listen: "127.0.0.1" }));

  const args = [
    ...jvmFlags(request),
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    ...["-cp", installation.classPath, MAIN_CLASS, configFile],
  ];
  const child = await tryToStart(javaCommand(request.env), args, request.dataDir, logFile);
  if (typeof child === "string") return failed(child);
  const record: PidRecord = { pid: child.pid, owner: process.pid };
  await writeFile(pidFile, JSON.stringify(record));
  const reason = await whyNotServing(child, { port, tls: request.tls }, signal);
  if (reason === null) return { ok: true, server: running(child, port, installation.source, request) };
  await child.stop();
  return failed(`${reason}; its last words: ${await tail(logFile)}`);
}

const javaCommand = (env: NodeJS.ProcessEnv): string => {
  const home = env["JAVA_HOME"];
  return home === undefined || home === "" ? "java" : join(home, "bin", "java");
};

const tryToStart = (command: string, args: string[], cwd: string, logFile: string): Promise<Child | string> =>
  startChild({ command, args, cwd, logFile }).catch((error: unknown) => `cannot start Java: ${messageOf(error)}`);

async function whyNotServing(child: Child, door: Door, signal: AbortSignal): Promise<string | null> {
  const giveUp = new AbortController();
  const ended = child.exited.then((why) => {
    giveUp.abort();
    return `the server ended with ${why}`;
  });
  const serving = untilServing(door, AbortSignal.any([signal, giveUp.signal]));
  const first = await Promise.race([ended, serving]);
  if (first === true) return null;
  return first === false ? "the server did not answer in time" : first;
}

function running(child: Child, port: number, source: ZooKeeperSource, request: Request): RunningZooKeeper {
  const { pidFile, transactionLog } = layoutOf(request.dataDir);
  return {
    connect: `127.0.0.1:${port}`,
    source,
    pid: child.pid,
    dataDir: request.dataDir,
    logDir: transactionLog,
    exited: child.exited,
    kill: (signal) => child.kill(signal),
    stop: async () => {
      await child.stop();
      await rm(request.ephemeralData ? request.dataDir : pidFile, { recursive: true, force: true });
    },
  };
}

async function tail(logFile: string): Promise<string> {
  const text = await readFile(logFile, "utf8").catch(() => "");
  const lines = text.trimEnd().split("\n");
  const causes = lines.filter((line) => /exception|error/i.test(line));
  return [...causes.slice(0, 1), ...lines.slice(-LOG_TAIL_LINES)].join(" | ");
}
