/** `node bench/dist/bulk-resume.js [JOBS]`: how long it takes to count, fail and resume many jobs in one order each. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startZooKeeper } from "@sluice/local-parts";
import { countJobs, type JobFilter, type JobOrder, orderJobs } from "@sluice/queue-core";
import { expandBatch, openQueue } from "./queue.ts";

const JOBS = Number(process.argv[2] ?? 10_000);
const OPERATOR = { name: "bench", reason: "a measurement" };

const dataDir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
const zookeeper = await startZooKeeper({ dataDir, log: (line) => console.error(line) });
try {
  const ctx = await openQueue(zookeeper.connect);
  await expandBatch(ctx, JOBS);
  const print = (what: string, jobs: number, startedMs: number): void => {
    const seconds = (performance.now() - startedMs) / 1000;
    console.log(JSON.stringify({ what, jobs, seconds, jobsPerSecond: Math.round(jobs / seconds) }));
  };
  const order = async (what: JobOrder, filter: JobFilter): Promise<void> => {
    const startedMs = performance.now();
    const { progress } = await orderJobs(ctx, OPERATOR, what, filter);
    print(what.action, progress.done, startedMs);
  };
  await order({ action: "fail" }, { states: ["Pending"] });
  const startedMs = performance.now();
  const count = await countJobs(ctx.session, { states: ["Failed"] }, Date.now());
  print("dry run", count?.total ?? 0, startedMs);
  await order({ action: "resume" }, { states: ["Failed"] });
  await ctx.session.close();
} finally {
  await zookeeper.stop();
  await rm(dataDir, { recursive: true, force: true });
}
