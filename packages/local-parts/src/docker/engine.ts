/** A Docker engine: the one that is there, or one of our own for a while. */
import { mkdir, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startChild } from "../child.ts";
import { findTool } from "../find-tool.ts";
import { partFolder } from "../folders.ts";
import { type Log, silent } from "../log.ts";
import { lastLine, runCommand } from "../run-command.ts";

export interface DockerEngine {
  /** For DOCKER_HOST. */
  readonly host: string;
  /** Of one that was there before: does nothing. */
  stop(): Promise<void>;
}

const DEFAULT_HOST = "unix:///var/run/docker.sock";
const PING_LIMIT_MS = 3_000;
const START_LIMIT_MS = 60_000;
const LOOK_AGAIN_MS = 100;

export async function findDockerEngine(
  environment: NodeJS.ProcessEnv = process.env,
): Promise<DockerEngine | { readonly skip: string }> {
  const host = environment["DOCKER_HOST"] ?? DEFAULT_HOST;
  if (await answers(host)) return { host, stop: () => Promise.resolve() };
  return { skip: `no Docker engine answers at ${host}` };
}

/**
 * Its images and containers live in one folder and go with it. Containers share the host's network: it makes no bridge and
 * touches no firewall.
 */
export async function startDockerEngine(log: Log = silent): Promise<DockerEngine | { readonly skip: string }> {
  if (process.getuid?.() !== 0) return { skip: "not root, so no Docker engine can be started" };
  const dockerd = await findTool("dockerd", { paths: ["/usr/sbin/dockerd"], part: "docker", log });
  if ("skip" in dockerd) return dockerd;
  const folder = await partFolder("docker");
  const at = (name: string): string => join(folder, name);
  const host = `unix://${at("socket")}`;
  await mkdir(at("data"));
  const place = ["--data-root", at("data"), "--exec-root", at("exec"), "--pidfile", at("pid"), "-H", host];
  const network = ["--bridge=none", "--iptables=false", "--ip6tables=false"];
  const child = await startChild({
    command: dockerd.path,
    args: [...place, ...network],
    cwd: folder,
    logFile: at("log"),
  });
  const stop = async (): Promise<void> => {
    // Not by force: it ends its containers and its containerd first, which would outlive it.
    await child.kill("SIGTERM");
    await unmountBelow(folder);
    await rm(folder, { recursive: true, force: true });
  };
  const ended = child.exited.then((how) => `dockerd ended, ${how}`);
  const problem = await Promise.race([ended, untilAnswering(host)]);
  if (problem === null) return { host, stop };
  const words = await readFile(at("log"), "utf8").catch(() => "");
  await stop();
  return { skip: `${problem}: ${lastLine(words)}` };
}

/** It leaves the network of containers that shared the host's mounted. */
async function unmountBelow(folder: string): Promise<void> {
  const mounted = (await readFile("/proc/mounts", "utf8")).split("\n").map((line) => line.split(" ")[1] ?? "");
  for (const path of mounted.filter((mount) => mount.startsWith(`${folder}/`)).reverse()) {
    await runCommand("umount", [path]);
  }
}

async function untilAnswering(host: string): Promise<string | null> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await answers(host))) {
    if (performance.now() > deadline) return `the Docker engine did not answer in ${START_LIMIT_MS} ms`;
    await sleep(LOOK_AGAIN_MS);
  }
  return null;
}

const answers = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socketPath = /^unix:\/\/(.+)$/.exec(host)?.[1];
    const { hostname, port } = socketPath === undefined ? new URL(host) : { hostname: "docker", port: "" };
    const where = socketPath === undefined ? { host: hostname, port: Number(port || "2375") } : { socketPath };
    const asked = request({ ...where, path: "/_ping", timeout: PING_LIMIT_MS }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.once("timeout", () => asked.destroy()).once("error", () => resolve(false));
    asked.end();
  });
