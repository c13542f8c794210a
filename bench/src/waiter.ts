/**
 * One caller that waits for a long time at one job-api, and very many requests that go from there to the owner of the shard,
 * with answers of some KB: does the owner keep what has long been delivered? Both in this process; memory after a collection.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { shardOfTenant } from "@sluice/job-queue";
import { type JobRouter, openJobRouter } from "@sluice/job-router";
import { startZooKeeper } from "@sluice/local-parts";
import { keepSession, systemClock } from "@sluice/zookeeper";
import { command, later } from "./owner-calls.ts";
import { print } from "./print.ts";

const AT_ONCE = 50;
/** What may be left of it all, in MB. */
const MOST_MB = 20;
const DATA = JSON.stringify({ text: "x".repeat(4_000) });
const LONG_MS = 3_600_000;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

export async function measureWaiter(requests: number): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const zookeeper = await startZooKeeper({ dataDir: join(dataDir, "zk"), log: (line) => console.error(line) });
  const closing: (() => Promise<void>)[] = [];
  try {
    const routers: JobRouter[] = [];
    for (const apiId of ["bench-1", "bench-2"]) {
      const session = keepSession({ connect: zookeeper.connect, timeoutMs: 30_000 });
      const peers = { listen: { host: "127.0.0.1", port: 0 }, secret: null };
      const router = await openJobRouter({ apiId, session, peers, clock: systemClock, later, log: silent });
      routers.push(router);
      closing.unshift(async () => (await router.stop(), session.close()));
      await until(() => router.shards().every(({ owner }) => owner !== null));
    }
    const [first, second] = routers;
    if (first === undefined || second === undefined) throw new Error("no routers");
    await until(() => second.stats().shardsOwned > 0 && first.stats().shardsOwned > 0);
    return await measure(first, tenantOf(second), requests);
  } finally {
    for (const close of closing) await close();
    await zookeeper.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measure(first: JobRouter, tenant: string, requests: number): Promise<boolean> {
  const of = (verb: string, fields: Readonly<Record<string, string>>) => ({ ...command(verb, fields), tenant });
  const made = await first.ask(tenant, of("CreateJob", { name: "known", data: DATA }));
  const [jobID] = made?.content.kind === "ids" ? made.content.ids : [];
  const gone = new AbortController();
  const wanted = command("GetJob", { name: "never" });
  if (wanted.verb !== "GetJobs") throw new Error(wanted.verb);
  const waiting = first.wait(tenant, { ...wanted, wanted: { ...wanted.wanted, tenant } }, LONG_MS, gone.signal);
  const before = collected();
  const began = performance.now();
  let left = requests;
  const asker = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = await first.ask(tenant, of("QueryJob", { jobID: String(jobID) }));
      if (answer?.status.code !== 200) throw new Error(`QueryJob: ${answer?.status.text ?? "unknown"}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, asker));
  const keptMb = Math.round((collected() - before) / 1e5) / 10;
  const perSecond = Math.round((requests * 1_000) / (performance.now() - began));
  print("waiter", { requests, keptMb, perSecond, load: Number(loadavg()[0]?.toFixed(1)) });
  gone.abort();
  await waiting;
  return keptMb <= MOST_MB;
}

function tenantOf(router: JobRouter): string {
  const owned = new Set(router.shards().flatMap(({ shard, state }) => (state === "here" ? [shard] : [])));
  for (let n = 0; ; n++) if (owned.has(shardOfTenant(`tenant-${n}`))) return `tenant-${n}`;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Bytes in use. */
function collected(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
