/**
 * One shard of the general job queue, so many minutes at 1,000 jobs a second, each created, taken and finished: does anything
 * grow? A line a minute; false when the second half is worse than the first, the first minute left out.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { ownShard, prepareQueue, type ShardOwner } from "@sluice/job-queue";
import { Archive } from "@sluice/job-store";
import { startZooKeeper } from "@sluice/local-parts";
import { connectSession } from "@sluice/zookeeper";
import { ask, later } from "./owner-calls.ts";
import { print } from "./print.ts";

const PER_SECOND = 1_000;
const MINUTE_MS = 60_000;
const TICK_MS = 5;
/** More at once are not begun: the rate falls instead, and says so. */
const OPEN_MOST = 4_000;
const DATA = JSON.stringify({ text: "x".repeat(100) });

interface Minute {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly heapMb: number;
  readonly znodes: number;
  readonly treeMb: number;
}

interface Counters {
  archived: number;
  failures: number;
  heldBack: number;
}

export async function measureEndurance(minutes: number): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const zookeeper = await startZooKeeper({ dataDir: join(dataDir, "zk"), log: (line) => console.error(line) });
  const session = await connectSession({ connect: zookeeper.connect, timeoutMs: 30_000 });
  const counters: Counters = { archived: 0, failures: 0, heldBack: 0 };
  try {
    print("machine", { cpus: cpus().length, node: process.version, zookeeper: zookeeper.source, fsync: true });
    const prepared = await prepareQueue(session);
    if (!prepared.ok) throw new Error(prepared.problem);
    const archive = new Archive({
      folder: join(dataDir, "archive"),
      writer: "bench",
      nowMs: () => Date.now(),
      onBadLine: (file) => console.error(`a bad line in ${file}`),
    });
    const archiveHooks = {
      onArchived: (runs: number) => void (counters.archived += runs),
      onFailure: () => void (counters.failures += 1),
      onHeldBack: () => void (counters.heldBack += 1),
    };
    const owning = await ownShard(0, { session, apiId: "bench", later, archive, archiveHooks });
    if (!owning.ok) throw new Error(owning.why);
    return await endure(owning.owner, zookeeper.connect, minutes, counters);
  } finally {
    await session.close();
    await zookeeper.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function endure(owner: ShardOwner, connect: string, minutes: number, counters: Counters): Promise<boolean> {
  const load = new Load(owner);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const told: Minute[] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    const before = counters.archived;
    delay.reset();
    const figures = await load.minute();
    const { znodes, treeMb } = await treeOf(connect);
    told.push({ ...figures, znodes, treeMb });
    print("minute", {
      minute,
      ...figures,
      rssMb: megabytes(process.memoryUsage.rss()),
      znodes,
      treeMb,
      archived: counters.archived - before,
      behind: owner.ended.runs,
      heldBack: counters.heldBack,
      archiveFailures: counters.failures,
      pauseMostMs: Math.round(delay.max / 1e6),
      load: Number(loadavg()[0]?.toFixed(1)),
    });
  }
  await load.drain();
  return judge(told);
}

/** Jobs begin at the same distance from each other, whether or not the ones before have ended. */
class Load {
  readonly #owner: ShardOwner;
  #open = 0;
  #took: number[] = [];
  #failed = 0;

  constructor(owner: ShardOwner) {
    this.#owner = owner;
  }

  async minute(): Promise<Pick<Minute, "perSecond" | "p50Ms" | "p99Ms" | "heapMb"> & { readonly failed: number }> {
    this.#took = [];
    this.#failed = 0;
    let heap = Infinity;
    let begun = 0;
    const startedMs = performance.now();
    for (let now = startedMs; now - startedMs < MINUTE_MS; now = performance.now()) {
      const due = Math.floor(((now - startedMs) * PER_SECOND) / 1_000);
      for (; begun < due && this.#open < OPEN_MOST; begun++) this.#begin();
      // The least of it: what is left after garbage was collected.
      heap = Math.min(heap, process.memoryUsage().heapUsed);
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
    const took = this.#took.sort((a, b) => a - b);
    const at = (part: number): number => Math.round((took[Math.floor(took.length * part)] ?? 0) * 10) / 10;
    const perSecond = Math.round((took.length * 1_000) / (performance.now() - startedMs));
    return { perSecond, p50Ms: at(0.5), p99Ms: at(0.99), heapMb: megabytes(heap), failed: this.#failed };
  }

  async drain(): Promise<void> {
    while (this.#open > 0) await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }

  #begin(): void {
    this.#open += 1;
    const beganMs = performance.now();
    this.#cycle()
      .then(() => this.#took.push(performance.now() - beganMs))
      .catch((error: unknown) => {
        if (this.#failed === 0) console.error(String(error));
        this.#failed += 1;
      })
      .finally(() => (this.#open -= 1));
  }

  async #cycle(): Promise<void> {
    await ask(this.#owner, "CreateJob", { name: "cycle", data: DATA });
    const { content } = await ask(this.#owner, "GetJob", { name: "cycle" });
    const [job] = content.kind === "taken" ? content.jobs : [];
    if (job !== undefined) await ask(this.#owner, "FinishJob", { jobID: String(job.view.jobID), lease: job.token });
  }
}

/** What the server says of itself. */
async function treeOf(connect: string): Promise<{ readonly znodes: number; readonly treeMb: number }> {
  const [host = "127.0.0.1", port = "2181"] = connect.split(":");
  const socket = createConnection(Number(port), host);
  socket.end("mntr");
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, "close");
  const value = (key: string): number => Number(new RegExp(`^${key}\\s+(\\d+)`, "m").exec(text)?.[1] ?? NaN);
  return { znodes: value("zk_znode_count"), treeMb: megabytes(value("zk_approximate_data_size")) };
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;

/** A shared machine is not steady: what grows without end is far beyond these. */
function judge(minutes: readonly Minute[]): boolean {
  const rest = minutes.slice(1);
  const [first, second] = [rest.slice(0, Math.ceil(rest.length / 2)), rest.slice(Math.ceil(rest.length / 2))];
  if (second.length === 0) return true;
  const grows = (of: (minute: Minute) => number, factor: number, room: number): boolean =>
    median(second.map(of)) > median(first.map(of)) * factor + room;
  const found = {
    rate: median(second.map(({ perSecond }) => perSecond)) < 0.97 * PER_SECOND,
    heap: grows(({ heapMb }) => heapMb, 1.1, 5),
    tree: grows(({ treeMb }) => treeMb, 1.1, 1),
    znodes: grows(({ znodes }) => znodes, 1.1, 1_000),
    p99: grows(({ p99Ms }) => p99Ms, 1.5, 20),
  };
  const drifts = Object.entries(found).flatMap(([name, drift]) => (drift ? [name] : []));
  print("verdict", { minutes: minutes.length, drifts });
  return drifts.length === 0;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
