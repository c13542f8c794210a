/** What the queue itself does per second: expansion, and one stage that does nothing. */
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { startZooKeeper } from "@sluice/local-parts";
import { print } from "./print.ts";
import { expandBatch, openQueue } from "./queue.ts";
import { runEmptyStage } from "./stage.ts";

export async function measureRates(most: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const zookeeper = await startZooKeeper({ dataDir, log: (line) => console.error(line) });
  try {
    print("machine", { cpus: cpus().length, node: process.version, zookeeper: zookeeper.source, fsync: true });
    const ctx = await openQueue(zookeeper.connect);
    for (const concurrency of [1, 50]) {
      const jobs = concurrency === 1 ? Math.min(most, 500) : most;
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
}
