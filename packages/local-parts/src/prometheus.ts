/** Prometheus and its tool, for tests: as the environment says, as installed, installed by apt when root. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "./child.ts";
import { partFolder } from "./folders.ts";
import { findTool, type ToolResult } from "./find-tool.ts";
import { freePort } from "./free-port.ts";
import { type Log, silent } from "./log.ts";
import { lastLine } from "./run-command.ts";

const START_LIMIT_MS = 60_000;
const LOOK_AGAIN_MS = 50;

export interface RunningPrometheus {
  readonly url: string;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

export const findPrometheus = (log: Log = silent): Promise<ToolResult> =>
  findTool("prometheus", { env: "PROMETHEUS", part: "prometheus", log });

export const findPromtool = (log: Log = silent): Promise<ToolResult> =>
  findTool("promtool", { env: "PROMTOOL", part: "prometheus", log });

/** Throws with its last words if it ends instead of serving: a wrong configuration, mostly. */
export async function startPrometheus(command: string, configFile: string): Promise<RunningPrometheus> {
  const folder = await partFolder("prometheus", { inMemory: true });
  const port = await freePort();
  const logFile = join(folder, "prometheus.log");
  const child = await startChild({
    command,
    args: [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    cwd: folder,
    logFile,
  });
  const url = `http://127.0.0.1:${port}`;
  const ended = child.exited.then((how) => new Error(`Prometheus ended at its start, ${how}`));
  const problem = await Promise.race([ended, untilReady(url)]);
  if (problem !== null) {
    const words = await readFile(logFile, "utf8").catch(() => "");
    await stop(child, folder);
    throw new Error(`${problem.message}: ${lastLine(words)}`);
  }
  return { url, stop: () => stop(child, folder) };
}

async function stop(child: Child, folder: string): Promise<void> {
  await child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
}

async function untilReady(url: string): Promise<Error | null> {
  const deadline = performance.now() + START_LIMIT_MS;
  while ((await fetch(`${url}/-/ready`).catch(() => null))?.ok !== true) {
    if (performance.now() > deadline) return new Error(`Prometheus was not ready in ${START_LIMIT_MS} ms`);
    await sleep(LOOK_AGAIN_MS);
  }
  return null;
}
