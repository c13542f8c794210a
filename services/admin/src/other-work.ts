/** Work of a stage that is no job: batches and notices, each an entry of a directory. */
import { paths, type Stage } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import { earliest, listEntries } from "./entries.ts";

const DIRECTORIES: Readonly<Partial<Record<Stage, readonly string[]>>> = {
  "batch-intake": [paths.fleetBatchQueue("Pending")],
  notifier: [paths.callbacks],
  reporter: [
    paths.queuedMails,
    paths.dueBatches,
    paths.fleetBatchQueue("Reporting"),
    paths.fleetBatchQueue("UpdateReporting"),
  ],
};

export interface OtherWork {
  readonly count: number;
  readonly ready: number;
  readonly oldestReadyAtMs: number | null;
}

/** `inHand` are batches that somebody works on. Null = no answer. */
export async function readOtherWork(
  session: Session,
  stage: Stage,
  inHand: ReadonlySet<string>,
): Promise<OtherWork | null> {
  let count = 0;
  let ready = 0;
  const first: string[] = [];
  for (const directory of DIRECTORIES[stage] ?? []) {
    const entries = await listEntries(session, directory);
    if (entries === null) return null;
    const free = entries.first.filter((name) => !inHand.has(name));
    count += entries.count;
    ready += entries.count - (entries.first.length - free.length);
    for (const name of free) first.push(`${directory}/${name}`);
  }
  if (first.length === 0) return { count, ready, oldestReadyAtMs: null };
  const answers = await session.readMany(first.map((get) => ({ get })));
  if (!answers.ok) return null;
  const times = answers.value.map((answer) => (answer.kind === "node" ? answer.node.stat.ctime : null));
  return { count, ready, oldestReadyAtMs: earliest(times) };
}
