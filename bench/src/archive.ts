/**
 * What is asked of a history of very many runs, half of them of one job that repeats: processor time and memory of one
 * page, through the owner of the shard. And what an owner that takes over does with runs that may have been kept already.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, type EndedRun, ownShard, prepareQueue, type Reply, type ShardOwner } from "@sluice/job-queue";
import { Archive } from "@sluice/job-store";
import { startZooKeeper } from "@sluice/local-parts";
import { connectSession } from "@sluice/zookeeper";
import { later } from "./owner-calls.ts";
import { print } from "./print.ts";

const PART = 10_000;
const LOOKS = 20;
/** What a page may cost, in ms of processor time. */
const MOST_MS = 50;
const TYPES = 1_000;
const REPEATS = 1;
const INHERITED = 4_000;
/** Of one shard. */
const BLOCKS_APART = 16 * 1_000;
const tenant = "default";

export async function measureArchive(runs: number): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const zookeeper = await startZooKeeper({ dataDir: join(dataDir, "zk"), log: (line) => console.error(line) });
  const session = await connectSession({ connect: zookeeper.connect, timeoutMs: 30_000 });
  try {
    const prepared = await prepareQueue(session);
    if (!prepared.ok) throw new Error(prepared.problem);
    const archive = new Archive({
      folder: join(dataDir, "archive"),
      writer: "bench",
      nowMs: () => Date.now(),
      onBadLine: (file) => console.error(`a bad line in ${file}`),
    });
    for (let from = 0; from < runs; from += PART) await archive.keep(0, part(from, Math.min(PART, runs - from)), false);
    const owning = await ownShard(0, { session, apiId: "bench", later, archive });
    if (!owning.ok) throw new Error(owning.why);
    const isQuick = await look(owning.owner, runs);
    return (await takeOver(archive, runs)) && isQuick;
  } finally {
    await session.close();
    await zookeeper.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const BEGAN = Date.now() - 3_600_000;

/** Every other run is one of the job that repeats. */
const runAt = (n: number): EndedRun => ({
  id: n % 2 === 0 ? REPEATS : (1 + Math.floor(n / 2_000)) * BLOCKS_APART + 1 + Math.floor((n % 2_000) / 2),
  token: `1.${n + 1}`,
  done: {
    name: n % 2 === 0 ? "repeats" : `type/${n % TYPES}`,
    tenant,
    worker: "worker-17",
    exit: 200,
    result: "done",
    created: BEGAN,
    started: BEGAN + n,
    ended: BEGAN + n + 1,
    job: { priority: 500, data: '{"text":"a hundred bytes or so of data"}', ev: [[BEGAN, "create"]] },
  },
});
const part = (from: number, count: number): readonly EndedRun[] =>
  Array.from({ length: count }, (_, n) => runAt(from + n));

async function look(owner: ShardOwner, runs: number): Promise<boolean> {
  const list = (names?: readonly string[]) => {
    let after: string | undefined;
    return (): Command => ({ verb: "ListRuns", tenant, limit: 50, ...(names && { names }), ...(after && { after }) });
  };
  const asked: Readonly<Record<string, (n: number) => Command>> = {
    "a job that repeats": () => ({ verb: "DescribeJob", tenant, id: REPEATS }),
    "an old job": (n) => ({ verb: "DescribeJob", tenant, id: runAt(2 * n + 1).id }),
    "a young job": (n) => ({ verb: "DescribeJob", tenant, id: runAt(runs - 2 * n - 1).id }),
    "all runs": list(),
    "a rare type": list([`type/${TYPES - 1}`]),
  };
  let isQuick = true;
  for (const [what, command] of Object.entries(asked)) {
    await answered(owner, command(0));
    const [heap, began, cpu] = [process.memoryUsage().heapUsed, performance.now(), process.cpuUsage()];
    for (let n = 0; n < LOOKS; n++) await answered(owner, command(n));
    const { user, system } = process.cpuUsage(cpu);
    const cpuMs = Math.round((user + system) / LOOKS) / 1_000;
    print("page", {
      ...{ of: what, runs, cpuMs, ms: Math.round((performance.now() - began) / LOOKS) },
      heapMb: Math.round((process.memoryUsage().heapUsed - heap) / 1e5) / 10,
      load: Number(loadavg()[0]?.toFixed(1)),
    });
    isQuick &&= cpuMs <= MOST_MS;
  }
  const cpu = process.cpuUsage();
  let [pages, cursor] = [0, null as string | null];
  do {
    const { content } = await answered(owner, { ...list()(), ...(cursor !== null && { after: cursor }) } as Command);
    if (content.kind !== "runs") throw new Error(content.kind);
    pages += 1;
    cursor = content.next;
  } while (cursor !== null && pages < 1_000);
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = Math.round((user + system) / pages) / 1_000;
  print("pages", { of: "all runs, one page after the other", pages, cpuMs });
  return isQuick && cpuMs <= MOST_MS;
}

async function answered(owner: ShardOwner, command: Command): Promise<Reply> {
  const reply = await owner.ask(command);
  if (reply?.status.code !== 200) throw new Error(`${command.verb}: ${reply?.status.text ?? "unknown"}`);
  return reply;
}

/** The last ones kept were not deleted from the tree: each must be found among all of its job. */
async function takeOver(archive: Archive, runs: number): Promise<boolean> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  await archive.keep(0, part(runs - INHERITED, INHERITED), true);
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = Math.round((user + system) / 1_000);
  print("kept again", { runs: INHERITED, cpuMs, ms: Math.round(performance.now() - began) });
  return cpuMs <= INHERITED;
}
