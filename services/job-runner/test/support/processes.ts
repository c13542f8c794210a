/** A job-api and runners as real processes, over a tree of their own. */
import { type JobClient, openJobs } from "@sluice/job-client";
import { type Child, freePort, startChild } from "@sluice/local-parts";
import { makeTree, testZooKeeper, waitFor } from "@sluice/testkit";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

export interface RunnerProcess {
  readonly name: string;
  readonly child: Child;
  /** Lines of its log, as objects. */
  log(): Promise<readonly Record<string, unknown>[]>;
  metrics(): Promise<string>;
}

export interface Stage {
  readonly jobs: JobClient;
  /** By the serverless door: for a handler, which need not be there. */
  addLine(tenant: string, type: string, payload: string): Promise<number>;
  readonly apiUrl: string;
  /** Another job-api over the same tree. */
  anotherApi(): Promise<{ readonly url: string; readonly child: Child }>;
  runner(name: string, settings?: Readonly<Record<string, string>>): Promise<RunnerProcess>;
  stop(): Promise<void>;
}

export async function startStage(): Promise<Stage> {
  const { connect } = await testZooKeeper();
  await makeTree(connect);
  const folder = await mkdtemp(join(tmpdir(), "sluice-runner-"));
  const children: Child[] = [];
  const start = async (service: string, name: string, env: Readonly<Record<string, string>>) => {
    const metrics = await freePort();
    const logFile = join(folder, `${name}.log`);
    const child = await startChild({
      command: process.execPath,
      args: ["--enable-source-maps", `dist/programs/${service}.js`],
      cwd: ROOT,
      logFile,
      env: {
        ...process.env,
        ZOOKEEPER_CONNECT: connect,
        ZK_SESSION_TIMEOUT_MS: "4000",
        WORKER_ID: name,
        METRICS_PORT: String(metrics),
        ...env,
      },
    });
    children.push(child);
    const ended: string[] = [];
    void child.exited.then((how) => ended.push(how));
    const ready = async (): Promise<boolean> =>
      ended.length > 0 || (await fetch(`http://127.0.0.1:${metrics}/readyz`).catch(() => null))?.status === 200;
    await waitFor(ready, { what: `${name} ready` });
    if (ended.length > 0)
      throw new Error(`${name} ${ended.join()}: ${(await readFile(logFile, "utf8")).slice(-2_000)}`);
    return { child, logFile, metrics };
  };
  const startApi = async (name: string) => {
    const http = await freePort();
    const { child } = await start("job-api", name, {
      ZK_SESSION_TIMEOUT_MS: "10000",
      AUTH: "off",
      PORT: String(http),
      BEDROCK_PORT: String(await freePort()),
      PEER_PORT: String(await freePort()),
      JOB_STORE_DIR: join(folder, "store"),
      JOURNAL_DIR: join(folder, `journal-${name}`),
    });
    return { url: `http://127.0.0.1:${http}`, child };
  };
  const { url } = await startApi("api");
  const jobs = openJobs({ urls: [url], tenant: "alpha", worker: "test" });
  return {
    jobs,
    apiUrl: url,
    anotherApi: () => startApi("another-api"),
    addLine: async (tenant, type, payload) => {
      const added = await fetch(`${url}/${tenant}/job/${type}/add`, { method: "POST", body: `${payload}\n` });
      return Number(await added.text());
    },
    runner: async (name, settings = {}) => {
      const { child, logFile, metrics } = await start("job-runner", name, {
        JOB_API_URL: url,
        RETRY_DELAY_MS: "1000",
        HEARTBEAT_MS: "500",
        HEARTBEAT_TIMEOUT_MS: "3000",
        HARVEST_INTERVAL_MS: "500",
        NODE_HANDLERS: "weak",
        INTERPRETERS: "perl",
        // Handlers ask the test's own server.
        ALLOW_LOOPBACK: "true",
        ...settings,
      });
      return {
        name,
        child,
        log: async () =>
          (await readFile(logFile, "utf8"))
            .split("\n")
            .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Record<string, unknown>] : [])),
        metrics: async () => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text(),
      };
    },
    stop: async () => {
      await jobs.close();
      for (const child of children.reverse()) await child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
