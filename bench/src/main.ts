/** `npm run bench`: rates on this machine, as JSON lines. A shared machine varies by half: compare, do not judge. */
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { startZooKeeper } from "@sluice/local-parts";
import { expandBatch, openQueue } from "./queue.ts";
import { runEmptyStage } from "./stage.ts";

const JOBS = Number(process.argv[2] ?? 5_000);

const print = (what: string, figures: object): void => console.log(JSON.stringify({ what, ...figures }));

const dataDir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
const zookeeper = await startZooKeeper({ dataDir, log: (line) => console.error(line) });
try {
  print("machine", { cpus: cpus().length, node: process.version, zookeeper: zookeeper.source, fsync: true });
  const ctx = await openQueue(zookeeper.connect);
  for (const concurrency of [1, 50]) {
    const jobs = concurrency === 1 ? Math.min(JOBS, 500) : JOBS;
    const startedMs = performance.now();
    await expandBatch(ctx, jobs);
    const seconds = (performance.now() - startedMs) / 1000;
    print("expansion", { rows: jobs, rowsPerSecond: Math.round(jobs / seconds) });
    print("empty stage", { jobs, concurrency, ...(await runEmptyStage(zookeeper.connect, jobs, concurrency)) });
  }
  await ctx.session.close();
} finally {
  await zookeeper.stop();
  await rm(dataDir, { recursive: true, force: true });
}
