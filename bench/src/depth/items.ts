/** What one item of an inbox costs its worker beside 500, 60,000 and 130,000 others: processor time, medians of rounds that take turns. */
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startZooKeeper } from "@sluice/local-parts";
import { jobId, paths, type QueueContext } from "@sluice/queue-core";
import type { Op } from "@sluice/zookeeper";
import { openQueue } from "../queue.ts";
import { makeRoot } from "./measure.ts";
import { settle, startWorker } from "./worker-process.ts";

const DEPTHS = [500, 60_000, 130_000] as const;
const ITEMS = 1_500;
/** Between them as many are added, so that the inbox is always about as deep. */
const ITEMS_AT_ONCE = 250;
const WARM_UP_ITEMS = 500;
const CREATES_AT_ONCE = 500;
const HEAP_MB = 2_048;
/** The cost at the greatest depth, as a multiple of that at the smallest. */
const FACTOR_MAX = 2;

interface Inbox {
  readonly depth: number;
  readonly ctx: QueueContext;
  readonly worker: ChildProcess;
  next: number;
  readonly costsUs: number[];
}

/** False: an item in a deep inbox costs more than it may. */
export async function measureItems(rounds: number): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const zookeeper = await startZooKeeper({ dataDir, heapMb: HEAP_MB, log: (line) => console.error(line) });
  const inboxes: Inbox[] = [];
  try {
    for (const depth of DEPTHS) inboxes.push(await openDeep(zookeeper.connect, depth));
    for (let round = 0; round < rounds; round++) for (const inbox of inboxes) await measure(inbox);
    const rows = inboxes.map(({ depth, costsUs }) => ({ waiting: depth, worker_us: Math.round(median(costsUs)) }));
    for (const row of rows) console.log(JSON.stringify(row));
    const factor = (rows.at(-1)?.worker_us ?? Number.NaN) / (rows[0]?.worker_us ?? Number.NaN);
    const isMet = factor <= FACTOR_MAX;
    console.log(
      `${isMet ? "ok" : "not met"}: ${factor.toFixed(2)} times as much at the greatest depth, at most ${FACTOR_MAX}`,
    );
    return isMet;
  } finally {
    for (const { worker, ctx } of inboxes) {
      worker.kill("SIGKILL");
      await ctx.session.close();
    }
    await zookeeper.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function openDeep(server: string, depth: number): Promise<Inbox> {
  const connect = `${server}/i${depth}`;
  await makeRoot(connect);
  const ctx = await openQueue(connect);
  const inbox = { depth, ctx, next: 1, costsUs: [] };
  await add(inbox, depth + WARM_UP_ITEMS);
  const worker = startWorker(connect, depth, "items");
  await settle(worker, WARM_UP_ITEMS);
  console.error(`${depth} items wait`);
  return { ...inbox, next: depth + WARM_UP_ITEMS + 1, worker };
}

async function add(inbox: Pick<Inbox, "ctx" | "next">, count: number): Promise<void> {
  const { session } = inbox.ctx;
  for (let left = count; left > 0; left -= CREATES_AT_ONCE) {
    const some = Array.from({ length: Math.min(left, CREATES_AT_ONCE) }, (): Op => {
      const path = `${paths.callbacks}/${jobId(inbox.next)}.0`;
      inbox.next += 1;
      return { op: "create", path, data: Buffer.alloc(0) };
    });
    const made = await session.multi(some);
    if (!made.ok) throw new Error(`${made.code} ${made.detail}`);
  }
}

async function measure(inbox: Inbox): Promise<void> {
  let cpuUs = 0;
  for (let left = ITEMS; left > 0; left -= ITEMS_AT_ONCE) {
    await add(inbox, ITEMS_AT_ONCE);
    cpuUs += (await settle(inbox.worker, ITEMS_AT_ONCE)).cpuUs;
  }
  inbox.costsUs.push(cpuUs / ITEMS);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
