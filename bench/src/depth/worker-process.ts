/** The process of a worker that is measured, and what it is told to do. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Order, Settled } from "./messages.ts";

export type Work = "jobs" | "items";

export function startWorker(connect: string, depth: number, work: Work): ChildProcess {
  const own = { ZOOKEEPER_CONNECT: connect, METRICS_PORT: "0", WORKER_ID: `bench-${depth}`, BENCH_WORK: work };
  const env = { ...process.env, ...own };
  return fork(fileURLToPath(new URL("./worker.js", import.meta.url)), { env });
}

export async function settle(worker: ChildProcess, count: number): Promise<Settled> {
  const order: Order = { settle: count };
  const over = new AbortController();
  const ended = once(worker, "exit", { signal: over.signal }).then(([code]): never => {
    throw new Error(`the worker ended: ${String(code)}`);
  });
  worker.send(order);
  try {
    const [settled] = (await Promise.race([once(worker, "message", { signal: over.signal }), ended])) as [Settled];
    return settled;
  } finally {
    over.abort();
    ended.catch(() => undefined);
  }
}
