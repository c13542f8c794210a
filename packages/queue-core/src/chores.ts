/**
 * When the work that keeps the fleet's house was last done. It stands in the tree, so that a restart forgets nothing and
 * everybody can see it: who is registered for a chore may be unable to do it.
 */
import type { Session } from "@sluice/zookeeper";
import { nodeOf, readable } from "./nodes.ts";
import { paths } from "./paths.ts";
import { type ChoreRecord, records } from "./records.ts";

export const CHORES = [
  /** Batches whose retention is over were looked for, by the reporter or by orders of the job fleet/clean-up. */
  "clean-up",
  /** Nothing that was to be archived was refused by the archive. */
  "archive",
  /** The audit stands in the archive, and what is older than its retention has left the tree. */
  "audit",
  /** The job fleet/clean-up has ordered all that there was to order. */
  "ordered-clean-up",
  "purge",
  "snapshot",
  "fsck-report",
] as const;
export type Chore = (typeof CHORES)[number];

/** Those of the general queue's runners: they are known from the moment a runner of the fleet's own jobs starts. */
export const RUNNERS_CHORES = [
  "ordered-clean-up",
  "purge",
  "snapshot",
  "fsck-report",
] as const satisfies readonly Chore[];

const TRIES = 3;

/** It was done just now. False: it could not be written; the next time will do. */
export const choreDone = (session: Session, chore: Chore): Promise<boolean> =>
  write(session, chore, (_, nowMs) => ({ done: nowMs }));

/** It is expected from now on, if it was not before. */
export const expectChore = (session: Session, chore: Chore): Promise<boolean> =>
  write(session, chore, (known, nowMs) => (known === null ? { done: nowMs, expected: true } : null));

async function write(
  session: Session,
  chore: Chore,
  next: (known: ChoreRecord | null, nowMs: number) => ChoreRecord | null,
): Promise<boolean> {
  const path = paths.chore(chore);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const node = await session.get(path);
    if (!node.ok && node.code !== "NO_NODE") return false;
    const known = node.ok ? readable(records.chore, node.value) : null;
    const record = next(known, session.serverNowMs());
    if (record === null) return true;
    const data = records.chore.encode(record);
    const written = await session.multi([
      node.ok ? { op: "set", path, data, version: node.value.stat.version } : { op: "create", path, data },
    ]);
    if (written.ok) return true;
    if (written.code !== "BAD_VERSION" && written.code !== "NODE_EXISTS") return false;
  }
  // Others write it, too: it was done a moment ago.
  return true;
}

/** Those that are known; null = no answer. */
export async function readChores(session: Session): Promise<ReadonlyMap<Chore, ChoreRecord> | null> {
  const answers = await session.readMany(CHORES.map((chore) => ({ get: paths.chore(chore) })));
  if (!answers.ok) return null;
  return new Map(
    CHORES.flatMap((chore, i) => {
      const record = readable(records.chore, nodeOf(answers.value[i]));
      return record === null ? [] : [[chore, record] as const];
    }),
  );
}
