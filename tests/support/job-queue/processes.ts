/** Processes of the general job queue that are killed and started again: job-apis, runners, workers. */
import { type Child, freePort, startChild } from "@sluice/local-parts";
import { makeTree, waitFor } from "@sluice/testkit";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startTcpProxy, type TcpProxy } from "../../../packages/job-router/test/support/tcp-proxy.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export interface ApiAddress {
  readonly name: string;
  readonly http: string;
  readonly tcp: number;
}

export interface QueueProcesses {
  readonly apis: readonly ApiAddress[];
  /** At its address and with its journal, as often as it is started. */
  startApi(name: string): Promise<void>;
  startRunner(name: string, api: ApiAddress, settings: Readonly<Record<string, string>>): Promise<void>;
  startWorker(name: string, ledger: string, tenants: readonly string[]): Promise<void>;
  /** Those that run, of the names that begin so. */
  running(prefix: string): readonly string[];
  /** By SIGKILL: it has ended when this returns. */
  kill(name: string): Promise<void>;
  /** What has ended although nobody killed it, and how. */
  readonly ended: readonly string[];
  /** Ends the connections of the other job-apis to this one; they may come again at once. */
  cutLines(name: string): void;
  /** On which every job-api has its store and its journal. Full, nothing can be written there. */
  setDisk(state: "full" | "free"): Promise<void>;
  /** The end of a process's log. */
  log(name: string): Promise<string>;
  stop(): Promise<void>;
}

interface Settings {
  readonly connect: string;
  readonly apis: readonly string[];
  readonly sessionMs: number;
}

export async function queueProcesses({ connect, apis: names, sessionMs }: Settings): Promise<QueueProcesses> {
  await makeTree(connect);
  const folder = await mkdtemp(join(tmpdir(), "sluice-job-queue-"));
  const disk = { under: join(folder, "disk"), flag: join(folder, "disk-is-full") };
  const apis: (ApiAddress & { readonly ports: readonly number[]; readonly line: TcpProxy })[] = [];
  for (const name of names) {
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()];
    const line = await startTcpProxy();
    line.lead(ports[2] ?? 0);
    apis.push({ name, http: `http://127.0.0.1:${ports[0]}`, tcp: ports[1] ?? 0, ports, line });
  }
  const children = new Map<string, Child>();
  const ended: string[] = [];
  const logOf = (name: string): string => join(folder, `${name}.log`);
  const log = async (name: string): Promise<string> => (await readFile(logOf(name), "utf8")).slice(-4_000);

  const start = async (name: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> => {
    const command = { command: process.execPath, args: ["--enable-source-maps", ...args], cwd: ROOT };
    const child = await startChild({ ...command, logFile: logOf(name), env: { ...process.env, ...env } });
    children.set(name, child);
    void child.exited.then((why) => children.get(name) === child && ended.push(`${name}: ${why}`));
  };
  const startService = async (service: string, name: string, env: Readonly<Record<string, string>>): Promise<void> => {
    const metrics = env["METRICS_PORT"] ?? String(await freePort());
    const preload = env["FULL_DISK_FLAG"] === undefined ? [] : ["--import", "./tests/support/job-queue/full-disk.mjs"];
    await start(name, [...preload, `dist/programs/${service}.js`], {
      ZOOKEEPER_CONNECT: connect,
      ZK_SESSION_TIMEOUT_MS: String(sessionMs),
      WORKER_ID: name,
      METRICS_PORT: metrics,
      ...env,
    });
    const isReady = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${metrics}/readyz`).catch(() => null))?.status === 200;
    await waitFor(isReady, { what: `${name} ready` }).catch(async (error: unknown) => {
      throw new Error(`${String(error)}: ${await log(name)}`);
    });
  };

  return {
    apis,
    log,
    ended,
    cutLines: (name) => apis.find((api) => api.name === name)?.line.cut(),
    setDisk: (state) => (state === "full" ? writeFile(disk.flag, "") : rm(disk.flag, { force: true })),
    async startApi(name) {
      const api = apis.find((each) => each.name === name);
      const [http, tcp, peer, metrics] = (api?.ports ?? []).map(String);
      await startService("job-api", name, {
        AUTH: "off",
        PORT: http ?? "",
        BEDROCK_PORT: tcp ?? "",
        PEER_PORT: peer ?? "",
        PEER_ADVERTISE_PORT: String(api?.line.port),
        METRICS_PORT: metrics ?? "",
        JOB_STORE_DIR: join(disk.under, "store"),
        JOURNAL_DIR: join(disk.under, name),
        FULL_DISK_FLAG: disk.flag,
        FULL_DISK_UNDER: disk.under,
      });
    },
    startRunner: (name, api, settings) => startService("job-runner", name, { JOB_API_URL: api.http, ...settings }),
    startWorker: (name, ledger, tenants) =>
      start(
        name,
        ["tests/support/job-queue/worker.mjs", ledger, name, tenants.join(","), ...apis.map(({ http }) => http)],
        {},
      ),
    running: (prefix) => [...children.keys()].filter((name) => name.startsWith(prefix)),
    async kill(name) {
      const child = children.get(name);
      children.delete(name);
      await child?.kill("SIGKILL");
    },
    async stop() {
      const running = [...children.values()];
      children.clear();
      await Promise.all(running.map((child) => child.kill("SIGKILL")));
      for (const { line } of apis) line.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
