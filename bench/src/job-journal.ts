/** Adds through the journal of the general job queue, and how fast an owner takes them in. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type JobJournals,
  type JournaledAdds,
  journaledAdds,
  openJobJournals,
  type Outcome,
  type TenantQueue,
} from "@sluice/job-journal";
import { type Command, ownShard, prepareQueue, type ShardOwner } from "@sluice/job-queue";
import { startZooKeeper } from "@sluice/local-parts";
import { connectSession } from "@sluice/zookeeper";
import { setTimeout as sleep } from "node:timers/promises";
import { print } from "./print.ts";

const CALLERS = 50;
const TYPE = { tenant: "default", name: "bench" };
const PAYLOAD = "x".repeat(100);
const LOOK_MS = 10;

const later = (ms: number, wake: () => void): (() => void) => {
  const timer = setTimeout(wake, ms);
  return () => clearTimeout(timer);
};

/** While adds are measured nobody takes them in. */
class Door {
  isShut = false;
  readonly queue: TenantQueue;

  constructor(owner: ShardOwner) {
    const routeShard = async (_shard: number, command: Command): Promise<Outcome> => {
      if (this.isShut && command.verb === "IngestAdds") return { kind: "unavailable", why: "it is being measured" };
      const reply = await owner.ask(command);
      return reply === null ? { kind: "unknown" } : { kind: "reply", reply };
    };
    this.queue = { routeShard, route: (_tenant, command) => routeShard(0, command), shardOf: () => 0 };
  }
}

export async function measureJournal(lines: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const zookeeper = await startZooKeeper({ dataDir: join(folder, "zookeeper"), log: (line) => console.error(line) });
  const session = await connectSession({ connect: zookeeper.connect, timeoutMs: 30_000 });
  try {
    const prepared = await prepareQueue(session);
    if (!prepared.ok) throw new Error(prepared.problem);
    const owning = await ownShard(0, { session, apiId: "bench", later });
    if (!owning.ok) throw new Error(owning.why);
    const door = new Door(owning.owner);
    const journals = await openIn(join(folder, "journal"), door.queue);
    await measureAll(lines, door, journals);
    await journals.close();
    await owning.owner.resign();
  } finally {
    await session.close();
    await zookeeper.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function openIn(folder: string, queue: TenantQueue): Promise<JobJournals> {
  const opened = await openJobJournals({
    folder,
    maxBytes: 1_000_000_000,
    segmentBytes: 16_000_000,
    clock: { nowMs: Date.now },
    log: { badLine: console.error, badRecord: console.error, opened: () => undefined },
    queue,
    blobs: null,
    later,
  });
  if (!opened.ok) throw new Error(opened.problem);
  return opened.journals;
}

async function measureAll(lines: number, door: Door, journals: JobJournals): Promise<void> {
  const adds = journaledAdds(door.queue, journals, null);
  // The first one has the ids reserved.
  await adds.addLines(TYPE, [PAYLOAD]);
  door.isShut = true;
  await timed("journal: one line at a time", lines / 10, () => add(adds, lines / 10, 1));
  await timed("journal: a hundred lines at a time", lines, () => add(adds, lines, 100));
  door.isShut = false;
  const waiting = (): number => journals.stats().get(0)?.lines ?? 0;
  await timed("journal: taken in", waiting(), async () => {
    while (waiting() > 0) await sleep(LOOK_MS);
  });
}

async function timed(what: string, lines: number, act: () => Promise<void>): Promise<void> {
  const startedMs = performance.now();
  await act();
  const seconds = (performance.now() - startedMs) / 1000;
  print(what, { lines, seconds, linesPerSecond: Math.round(lines / seconds) });
}

/** Fifty callers, each with so many lines at a time. */
async function add(adds: JournaledAdds, lines: number, atATime: number): Promise<void> {
  let left = lines / atATime;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const { status } = await adds.addLines(TYPE, Array<string>(atATime).fill(PAYLOAD));
      if (status.code !== 200) throw new Error(status.text);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}
