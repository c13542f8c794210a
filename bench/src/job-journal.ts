/** `node bench/dist/job-journal.js [LINES]`: adds through the journal of the general job queue, and how fast an owner takes them in. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { journaledAdds, openJobJournals, type Outcome, type TenantQueue } from "@sluice/job-journal";
import { type Command, ownShard, prepareQueue } from "@sluice/job-queue";
import { startZooKeeper } from "@sluice/local-parts";
import { connectSession } from "@sluice/zookeeper";

const LINES = Number(process.argv[2] ?? 100_000);
const CALLERS = 50;
const TYPE = { tenant: "default", name: "bench" };

const later = (ms: number, wake: () => void): (() => void) => {
  const timer = setTimeout(wake, ms);
  return () => clearTimeout(timer);
};

const folder = await mkdtemp(join(tmpdir(), "sluice-bench-"));
const zookeeper = await startZooKeeper({ dataDir: join(folder, "zookeeper"), log: (line) => console.error(line) });
const session = await connectSession({ connect: zookeeper.connect, timeoutMs: 30_000 });
const prepared = await prepareQueue(session);
if (!prepared.ok) throw new Error(prepared.problem);
const owning = await ownShard(0, { session, apiId: "bench", later });
if (!owning.ok) throw new Error(owning.why);
const { owner } = owning;

/** While adds are measured nobody takes them in. */
let isAway = false;
const routeShard = async (_shard: number, command: Command): Promise<Outcome> => {
  if (isAway && command.verb === "IngestAdds") return { kind: "unavailable", why: "it is being measured" };
  const reply = await owner.ask(command);
  return reply === null ? { kind: "unknown" } : { kind: "reply", reply };
};
const queue: TenantQueue = { routeShard, route: (_tenant, command) => routeShard(0, command), shardOf: () => 0 };
const opened = await openJobJournals({
  folder: join(folder, "journal"),
  maxBytes: 1_000_000_000,
  segmentBytes: 16_000_000,
  clock: { nowMs: Date.now },
  log: { badLine: console.error, badRecord: console.error, opened: () => undefined },
  queue,
  blobs: null,
  later,
});
if (!opened.ok) throw new Error(opened.problem);
const { journals } = opened;
const adds = journaledAdds(queue, journals, null);
const payload = "x".repeat(100);

const print = (what: string, lines: number, startedMs: number): void => {
  const seconds = (performance.now() - startedMs) / 1000;
  console.log(JSON.stringify({ what, lines, seconds, linesPerSecond: Math.round(lines / seconds) }));
};

/** Fifty callers, each with so many lines at a time. */
async function add(lines: number, atATime: number): Promise<void> {
  let left = lines / atATime;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const { status } = await adds.addLines(TYPE, Array<string>(atATime).fill(payload));
      if (status.code !== 200) throw new Error(status.text);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

async function measure(what: string, lines: number, atATime: number): Promise<void> {
  const startedMs = performance.now();
  await add(lines, atATime);
  print(what, lines, startedMs);
}

try {
  await adds.addLines(TYPE, [payload]);
  isAway = true;
  await measure("one line at a time", LINES / 10, 1);
  await measure("a hundred lines at a time", LINES, 100);
  isAway = false;
  const [startedMs, waiting] = [performance.now(), journals.stats().get(0)?.lines ?? 0];
  while ((journals.stats().get(0)?.lines ?? 0) > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  print("taken in", waiting, startedMs);
} finally {
  await journals.close();
  await owner.resign();
  await session.close();
  await zookeeper.stop();
  await rm(folder, { recursive: true, force: true });
}
