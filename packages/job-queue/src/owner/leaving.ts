/** Entries of runs that leave the tree: what they say, and the transaction that takes them away. */
import type { Op, Session } from "@sluice/zookeeper";
import { STEP_JOBS } from "../limits.ts";
import { paths } from "../paths.ts";
import { pathOf, type Reading, readRuns } from "./done-entries.ts";
import type { DoneEntry, DoneIndex } from "./done-index.ts";

export interface Leaving {
  readonly entry: DoneEntry;
  readonly reading: Reading;
}

export interface LeavingPorts {
  readonly shard: number;
  readonly index: DoneIndex;
  readonly write: (ops: readonly Op[]) => void;
  readonly onUnreadable?: ((path: string) => void) | undefined;
}

/** Null: nobody answers. */
export async function readLeaving(
  session: Session,
  shard: number,
  entries: readonly DoneEntry[],
): Promise<readonly Leaving[] | null> {
  const unknown = entries.filter(({ done }) => done === null);
  const found = new Map<DoneEntry, Reading>();
  for (let from = 0; from < unknown.length; from += STEP_JOBS) {
    const some = unknown.slice(from, from + STEP_JOBS);
    const read = await readRuns(session, shard, some, "whole");
    if (read === "silence") return null;
    some.forEach((entry, n) => found.set(entry, read[n] ?? "missing"));
  }
  return entries.map((entry) => {
    const { id, token, done } = entry;
    const path = pathOf(shard, entry);
    return {
      entry,
      reading: done === null ? (found.get(entry) ?? "missing") : { run: { id, token, done }, nodes: [path] },
    };
  });
}

/** Decided and written in one go: a directory that was emptied here may be made anew by whatever ends next. */
export function deleteLeaving({ index, shard, write, onUnreadable }: LeavingPorts, leaving: readonly Leaving[]): void {
  const gone: string[] = [];
  const left: DoneEntry[] = [];
  for (const { entry, reading } of leaving) {
    if (reading === "unreadable") onUnreadable?.(pathOf(shard, entry));
    else left.push(entry);
    if (typeof reading !== "string") for (const node of reading.nodes) gone.push(node);
  }
  for (const directory of index.empty(left)) gone.push(paths.doneDirectory(shard, directory));
  if (gone.length > 0) write(gone.map((path): Op => ({ op: "delete", path, version: 0 })));
}
