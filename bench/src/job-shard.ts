/** One shard of the general job queue: whole cycles with many clients, with many jobs that wait, and a takeover of all of them. */
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { JOBS_PER_SHARD, ownShard, prepareQueue, type ShardOwner } from "@sluice/job-queue";
import { startZooKeeper } from "@sluice/local-parts";
import { connectSession, type Session } from "@sluice/zookeeper";
import { ask, later } from "./owner-calls.ts";
import { print } from "./print.ts";

const CLIENTS = 200;
const DELAYED = 100_000;
const DUE = 10_000;
const NAMES = 5_000;
const DATA = JSON.stringify({ text: "x".repeat(100) });

export async function measureShard(cycles: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const zookeeper = await startZooKeeper({ dataDir, log: (line) => console.error(line) });
  const session = await connectSession({ connect: zookeeper.connect, timeoutMs: 30_000 });
  try {
    print("machine", { cpus: cpus().length, node: process.version, zookeeper: zookeeper.source, fsync: true });
    const prepared = await prepareQueue(session);
    if (!prepared.ok) throw new Error(prepared.problem);
    const owner = await own(session);
    await runCycles(owner, cycles, CLIENTS);
    await measured("cycles", () => runCycles(owner, cycles, CLIENTS));
    await measured("lone client", () => runCycles(owner, Math.min(cycles, 1_000), 1));
    await measured("create delayed", () => createMany(owner, DELAYED, { firstRun: "2999-01-01" }));
    await measured("cycles beside delayed", () => runCycles(owner, cycles, CLIENTS));
    await createMany(owner, DUE, {});
    const next = await measured("takeover", () => takeOver(session));
    await measured("picks by pattern", () => pickByPattern(next.owner));
  } finally {
    await session.close();
    await zookeeper.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** With the processor time of this process for each job: on a busy machine it says more than the clock. */
async function measured<T extends { readonly jobs: number }>(what: string, run: () => Promise<T>): Promise<T> {
  const before = process.cpuUsage();
  const figures = await run();
  const { user, system } = process.cpuUsage(before);
  const shown = Object.entries(figures).filter(([, value]) => typeof value === "number");
  const cpuUsPerJob = Math.round((user + system) / figures.jobs);
  print(what, { ...Object.fromEntries(shown), cpuUsPerJob, load: Number(loadavg()[0]?.toFixed(1)) });
  return figures;
}

interface Figures {
  readonly jobs: number;
  readonly [figure: string]: number;
}

async function own(session: Session): Promise<ShardOwner> {
  const owning = await ownShard(0, { session, apiId: "bench", later, limits: { jobsPerTenant: JOBS_PER_SHARD } });
  if (!owning.ok) throw new Error(owning.why);
  return owning.owner;
}

const rate = (count: number, startedMs: number): number => Math.round((count * 1000) / (performance.now() - startedMs));

/** Each client creates a job, takes the first one and finishes it, one after the other. */
async function runCycles(owner: ShardOwner, cycles: number, clients: number): Promise<Figures> {
  const took: number[] = [];
  const startedMs = performance.now();
  const client = async (): Promise<void> => {
    while (took.length < cycles) {
      const beganMs = performance.now();
      await ask(owner, "CreateJob", { name: "cycle", data: DATA });
      const { content } = await ask(owner, "GetJob", { name: "cycle" });
      const [job] = content.kind === "taken" ? content.jobs : [];
      if (job !== undefined) await ask(owner, "FinishJob", { jobID: String(job.view.jobID), lease: job.token });
      took.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const perSecond = rate(took.length, startedMs);
  took.sort((a, b) => a - b);
  const at = (part: number): number => Math.round((took[Math.floor(took.length * part)] ?? 0) * 10) / 10;
  return { jobs: took.length, clients, perSecond, p50Ms: at(0.5), p99Ms: at(0.99) };
}

async function createMany(
  owner: ShardOwner,
  count: number,
  fields: Readonly<Record<string, string>>,
): Promise<Figures> {
  const startedMs = performance.now();
  const parts = Array.from({ length: count / 500 }, (_, part) =>
    Array.from({ length: 500 }, (_one, n) => ({ name: `wait/${(500 * part + n) % NAMES}`, data: { n }, ...fields })),
  );
  for (const jobs of parts) await ask(owner, "CreateJobs", { jobs: JSON.stringify(jobs) });
  return { jobs: count, perSecond: rate(count, startedMs) };
}

async function takeOver(
  session: Session,
): Promise<{ readonly owner: ShardOwner; readonly jobs: number; readonly ms: number }> {
  const startedMs = performance.now();
  const owner = await own(session);
  return { owner, jobs: owner.size, ms: Math.round(performance.now() - startedMs) };
}

async function pickByPattern(owner: ShardOwner): Promise<Figures> {
  const startedMs = performance.now();
  const picks = DUE / 2;
  await Promise.all(Array.from({ length: picks }, () => ask(owner, "GetJob", { name: "wait/*" })));
  return { jobs: picks, names: NAMES, perSecond: rate(picks, startedMs) };
}
