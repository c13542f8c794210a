/**
 * What one claim costs beside 1,000, 10,000 and 100,000 jobs that wait: processor time of the worker and of the server, and
 * requests, counted by the server. Rounds take turns, so that whatever else the machine does meets all depths alike.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningZooKeeper, startZooKeeper } from "@sluice/local-parts";
import type { QueueContext } from "@sluice/queue-core";
import { ensureChroot } from "@sluice/zookeeper";
import { expandBatch, openQueue } from "../queue.ts";
import { serverCounts } from "./server-counts.ts";
import { judge, type Sample, table } from "./verdict.ts";
import { settle, startWorker } from "./worker-process.ts";

const DEPTHS = [1_000, 10_000, 100_000] as const;
/** In each round; enough that some lists of the queue are among them at any depth. */
const CLAIMS = 2_000;
/** Between them as many jobs are added, so that the queue is always about as deep. */
const CLAIMS_AT_ONCE = 250;
/** What a worker does once in its life (its first list, whose the jobs are) is no cost of a claim. */
const WARM_UP_CLAIMS = 2_000;
const BATCH_ROWS_MAX = 20_000;
const HEAP_MB = 3_072;

export interface DepthOptions {
  readonly rounds: number;
  /** Where the figures are written as JSON too. */
  readonly json: string | null;
}

interface Queue {
  readonly depth: number;
  readonly ctx: QueueContext;
  readonly worker: ChildProcess;
}

/** False: a claim costs more in a deep queue than it may. */
export async function measureDepth({ rounds, json }: DepthOptions): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const zookeeper = await startZooKeeper({ dataDir, heapMb: HEAP_MB, log: (line) => console.error(line) });
  const queues: Queue[] = [];
  try {
    for (const depth of DEPTHS) queues.push(await openDeep(zookeeper, depth));
    const samples: Sample[] = [];
    for (let round = 0; round < rounds; round++)
      for (const queue of queues) samples.push(await sample(zookeeper, queue, round));
    const verdict = judge(samples);
    console.log(table(verdict));
    if (json !== null) await writeFile(json, JSON.stringify({ ...machine(zookeeper), ...verdict, samples }, null, 2));
    console.log(
      verdict.problems.length === 0 ? "ok: a claim costs the same at any depth" : verdict.problems.join("\n"),
    );
    return verdict.problems.length === 0;
  } finally {
    for (const { worker, ctx } of queues) {
      worker.kill("SIGKILL");
      await ctx.session.close();
    }
    await zookeeper.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const machine = ({ source }: RunningZooKeeper): object => ({
  cpus: cpus().length,
  node: process.version,
  zookeeper: source,
  load: loadavg()[0],
});

async function openDeep(zookeeper: RunningZooKeeper, depth: number): Promise<Queue> {
  const connect = `${zookeeper.connect}/d${depth}`;
  await makeRoot(connect);
  const ctx = await openQueue(connect);
  await addJobs(ctx, depth + WARM_UP_CLAIMS);
  const worker = startWorker(connect, depth, "jobs");
  await settle(worker, WARM_UP_CLAIMS);
  console.error(`${depth} jobs wait`);
  return { depth, ctx, worker };
}

export async function makeRoot(connect: string): Promise<void> {
  const problem = await ensureChroot({ connect, timeoutMs: 30_000 });
  if (problem !== null) throw new Error(problem);
}

async function addJobs(ctx: QueueContext, count: number): Promise<void> {
  for (let left = count; left > 0; left -= BATCH_ROWS_MAX) await expandBatch(ctx, Math.min(left, BATCH_ROWS_MAX));
}

async function sample(zookeeper: RunningZooKeeper, queue: Queue, round: number): Promise<Sample> {
  const parts: Omit<Sample, "round" | "depth">[] = [];
  for (let left = CLAIMS; left > 0; left -= CLAIMS_AT_ONCE) parts.push(await samplePart(zookeeper, queue));
  const mean = (value: (part: (typeof parts)[number]) => number): number =>
    parts.reduce((sum, part) => sum + value(part), 0) / parts.length;
  return {
    round,
    depth: queue.depth,
    workerUs: mean(({ workerUs }) => workerUs),
    serverUs: mean(({ serverUs }) => serverUs),
    requests: mean(({ requests }) => requests),
    transactions: mean(({ transactions }) => transactions),
    perSecond: mean(({ perSecond }) => perSecond),
  };
}

async function samplePart(
  zookeeper: RunningZooKeeper,
  { ctx, worker }: Queue,
): Promise<Omit<Sample, "round" | "depth">> {
  await addJobs(ctx, CLAIMS_AT_ONCE);
  const before = await serverCounts(zookeeper);
  const { jobs, seconds, cpuUs } = await settle(worker, CLAIMS_AT_ONCE);
  const after = await serverCounts(zookeeper);
  return {
    workerUs: cpuUs / jobs,
    serverUs: (1e6 * (after.cpuS - before.cpuS)) / jobs,
    requests: (after.requests - before.requests) / jobs,
    transactions: (after.zxid - before.zxid) / jobs,
    perSecond: jobs / seconds,
  };
}
