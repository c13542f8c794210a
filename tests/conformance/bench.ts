/** Two job-apis, real processes, over one tree and one store. */
import { checkQueue } from "@sluice/job-queue";
import { type Child, freePort, startChild } from "@sluice/local-parts";
import { makeTree, readTransactions, testZooKeeper, waitFor } from "@sluice/testkit";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Address } from "./talk.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Process extends Address {
  readonly child: Child;
  readonly logFile: string;
}

export type LogLine = Readonly<Record<string, unknown>>;

export interface Bench {
  readonly processes: readonly Process[];
  /** Of their tree. */
  readonly connect: string;
  /** The lines of both processes' logs. */
  logLines(): Promise<readonly LogLine[]>;
  /** Where both keep what is archived. */
  readonly archiveFolder: string;
  /** What the queue's invariants say about them. */
  faults(): readonly string[];
  stop(): Promise<void>;
}

/** `before`: what is done to the tree before a job-api sees it. */
export async function startBench(count = 2, before?: (connect: string) => Promise<void>): Promise<Bench> {
  const { connect, logDir, root } = await testZooKeeper();
  await makeTree(connect);
  await before?.(connect);
  const folder = await mkdtemp(join(tmpdir(), "sluice-conformance-"));
  const starting = Array.from({ length: count }, (_, i) => startProcess(connect, folder, `job-api-${i + 1}`));
  const processes = await Promise.all(starting);
  return {
    processes,
    connect,
    logLines: async () => {
      const texts = await Promise.all(processes.map(({ logFile }) => readFile(logFile, "utf8")));
      return texts.flatMap(linesOf);
    },
    archiveFolder: join(folder, "store", "archive"),
    faults: () =>
      checkQueue(readTransactions(logDir, root), root).map(({ invariant, detail }) => `${invariant}: ${detail}`),
    stop: async () => {
      await Promise.all(processes.map(({ child }) => child.kill("SIGTERM")));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Whole lines: the last one may still be being written. */
const linesOf = (text: string): readonly LogLine[] =>
  text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as LogLine] : []));

async function startProcess(connect: string, folder: string, name: string): Promise<Process> {
  const [http, tcp, peer, metrics] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const logFile = join(folder, `${name}.log`);
  const child = await startChild({
    command: process.execPath,
    args: ["--enable-source-maps", "dist/programs/job-api.js"],
    cwd: ROOT,
    logFile,
    env: {
      ...process.env,
      ZOOKEEPER_CONNECT: connect,
      ZK_SESSION_TIMEOUT_MS: "10000",
      AUTH: "off",
      WORKER_ID: name,
      PORT: String(http),
      BEDROCK_PORT: String(tcp),
      PEER_PORT: String(peer),
      METRICS_PORT: String(metrics),
      JOB_STORE_DIR: join(folder, "store"),
      JOURNAL_DIR: join(folder, name),
    },
  });
  const ended: string[] = [];
  void child.exited.then((reason) => ended.push(reason));
  const isReady = async (): Promise<boolean> =>
    ended.length > 0 || (await fetch(`http://127.0.0.1:${metrics}/readyz`).catch(() => null))?.status === 200;
  await waitFor(isReady, { what: `${name} ready` });
  if (ended.length > 0) throw new Error(`${name} ${ended.join()}: ${(await readFile(logFile, "utf8")).slice(-2_000)}`);
  return { http: `http://127.0.0.1:${http}`, tcp, child, logFile };
}
