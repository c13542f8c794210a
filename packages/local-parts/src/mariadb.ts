/** A MariaDB server of one's own, on loopback, with its data in one folder. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "./child.ts";
import { findTool } from "./find-tool.ts";
import { freePort } from "./free-port.ts";
import { type Log, silent } from "./log.ts";
import { lastLine, runCommand } from "./run-command.ts";

export interface RunningMariaDb {
  /** mysql://user:password@127.0.0.1:port/database; the user may do everything in it, and look at what others wait for. */
  readonly url: string;
  readonly port: number;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** After a kill: the same data, the same port. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

const DATABASE = "inventory";
const USER = "sluice";
const START_LIMIT_MS = 60_000;
const LOOK_AGAIN_MS = 50;
const PACKAGE = "mariadb-server-core";

/** As the environment says (MARIADBD, MARIADB_INSTALL_DB), as installed, installed by apt when root, else the reason. */
export async function startMariaDb(log: Log = silent): Promise<RunningMariaDb | { readonly skip: string }> {
  const server = await findTool("mariadbd", {
    env: "MARIADBD",
    paths: ["/usr/sbin/mariadbd"],
    aptPackage: PACKAGE,
    log,
  });
  if ("skip" in server) return server;
  const installer = await findTool("mariadb-install-db", { env: "MARIADB_INSTALL_DB", aptPackage: PACKAGE, log });
  if ("skip" in installer) return installer;
  const folder = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sluice-mariadb-"));
  const password = randomBytes(12).toString("hex");
  await install(installer.path, folder, password);
  return await run(server.path, folder, password);
}

const asRoot = (): readonly string[] => (process.getuid?.() === 0 ? ["--user=root"] : []);

async function install(installer: string, folder: string, password: string): Promise<void> {
  const dataDir = join(folder, "data");
  await mkdir(dataDir);
  const how = ["--auth-root-authentication-method=normal", "--skip-test-db", ...asRoot()];
  const installed = await runCommand(installer, ["--no-defaults", `--datadir=${dataDir}`, ...how]);
  if (!installed.ok) throw new Error(`mariadb-install-db: ${lastLine(installed.output)}`);
  await writeFile(
    join(folder, "init.sql"),
    [
      `create database if not exists ${DATABASE};`,
      `create user if not exists '${USER}'@'127.0.0.1' identified by '${password}';`,
      `grant all on ${DATABASE}.* to '${USER}'@'127.0.0.1';`,
      `grant process on *.* to '${USER}'@'127.0.0.1';`,
    ].join("\n"),
  );
}

async function run(server: string, folder: string, password: string): Promise<RunningMariaDb> {
  const port = await freePort();
  const start = (): Promise<Child> => startServer(server, folder, port);
  let child = await start();
  return {
    url: `mysql://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`,
    port,
    kill: (signal) => child.kill(signal),
    restart: async () => {
      await child.exited;
      child = await start();
    },
    stop: async () => {
      await child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startServer(command: string, folder: string, port: number): Promise<Child> {
  const logFile = join(folder, "server.log");
  const child = await startChild({
    command,
    args: [
      "--no-defaults",
      ...asRoot(),
      `--datadir=${join(folder, "data")}`,
      `--socket=${join(folder, "socket")}`,
      `--port=${port}`,
      "--bind-address=127.0.0.1",
      "--skip-name-resolve",
      `--init-file=${join(folder, "init.sql")}`,
      "--innodb-buffer-pool-size=16M",
    ],
    cwd: folder,
    logFile,
  });
  const ended = child.exited.then((how) => new Error(`MariaDB ended at its start, ${how}: see ${logFile}`));
  const problem = await Promise.race([ended, untilGreeted(port)]);
  if (problem !== null) throw problem;
  return child;
}

async function untilGreeted(port: number): Promise<Error | null> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await greets(port))) {
    if (performance.now() > deadline) return new Error(`MariaDB did not answer in ${START_LIMIT_MS} ms`);
    await sleep(LOOK_AGAIN_MS);
  }
  return null;
}

/** A server that is ready speaks first. */
const greets = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    const answer = (yes: boolean) => () => {
      socket.destroy();
      resolve(yes);
    };
    socket.once("data", answer(true)).once("error", answer(false)).once("close", answer(false));
  });
