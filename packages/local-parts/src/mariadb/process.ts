/** MariaDB as a process of this machine, on loopback, with its data in one folder. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Child, startChild } from "../child.ts";
import { installPart, missingCommands } from "../debian/install.ts";
import { findTool } from "../find-tool.ts";
import { partFolder } from "../folders.ts";
import { freePort } from "../free-port.ts";
import type { Log } from "../log.ts";
import { lastLine, runCommand } from "../run-command.ts";
import { newAccount } from "./account.ts";
import { untilGreeted } from "./greeting.ts";
import type { RunningMariaDb } from "./types.ts";

export interface ProcessOptions {
  readonly log: Log;
  /** Install it by apt if it is not there. */
  readonly apt: boolean;
}

/** As the environment says (MARIADBD, MARIADB_INSTALL_DB), as installed, or installed by apt when root, else the reason. */
export async function startAsProcess({
  log,
  apt,
}: ProcessOptions): Promise<RunningMariaDb | { readonly skip: string }> {
  const refusal = await complete(log, apt);
  if (refusal !== null) return { skip: refusal };
  const server = await findTool("mariadbd", { env: "MARIADBD", paths: ["/usr/sbin/mariadbd"] });
  if ("skip" in server) return server;
  const installer = await findTool("mariadb-install-db", { env: "MARIADB_INSTALL_DB" });
  if ("skip" in installer) return installer;
  const folder = await partFolder("mariadb", { inMemory: true });
  const account = newAccount();
  try {
    await install(installer.path, folder);
    await writeFile(join(folder, "init.sql"), account.sql);
    return await run(server.path, folder, account.urlAt);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Why not all of its commands are here; null when they are. Half of them is worse than none: it fails at the start. */
async function complete(log: Log, apt: boolean): Promise<string | null> {
  const missing = missingCommands("mariadb");
  if (missing.length === 0) return null;
  const reason = `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not installed`;
  if (!apt) return reason;
  const installed = await installPart("mariadb", log);
  return installed.ok ? null : `${reason}, and ${installed.reason}`;
}

const asRoot = (): readonly string[] => (process.getuid?.() === 0 ? ["--user=root"] : []);

async function install(installer: string, folder: string): Promise<void> {
  const dataDir = join(folder, "data");
  await mkdir(dataDir);
  const how = ["--auth-root-authentication-method=normal", "--skip-test-db", ...asRoot()];
  const installed = await runCommand(installer, ["--no-defaults", `--datadir=${dataDir}`, ...how]);
  if (!installed.ok) throw new Error(`mariadb-install-db: ${lastLine(installed.output)}`);
}

async function run(server: string, folder: string, urlAt: (port: number) => string): Promise<RunningMariaDb> {
  const port = await freePort();
  const start = (): Promise<Child> => startServer(server, folder, port);
  let child = await start();
  return {
    url: urlAt(port),
    port,
    source: "process",
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
  const ended = child.exited.then((how) => new Error(`MariaDB ended at its start, ${how}`));
  const problem = await Promise.race([ended, untilGreeted(port)]);
  if (problem === null) return child;
  await child.kill("SIGKILL");
  throw new Error(`${problem.message}: ${lastLine(await readFile(logFile, "utf8").catch(() => ""))}`);
}
