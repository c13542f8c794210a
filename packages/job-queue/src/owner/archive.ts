/** What has ended leaves the tree: old directories of the archive are handed to a keeper, and deleted when it has them. */
import type { Op, ReadAnswer, Session } from "@sluice/zookeeper";
import { STEP_JOBS } from "../limits.ts";
import { parseDoneName, paths } from "../paths.ts";
import { type Done, records } from "../records.ts";

export interface EndedRun {
  readonly id: number;
  readonly token: string;
  readonly done: Done;
}

/** Durable when it returns. It may be given the same runs again, if we die before they are deleted. */
export type KeepRuns = (runs: readonly EndedRun[]) => Promise<void>;

export interface ArchivePorts {
  readonly session: Session;
  readonly shard: number;
  readonly keep: KeepRuns;
  /** False: the term is over. */
  readonly write: (ops: readonly Op[]) => Promise<boolean>;
}

/** "2026111613" or "2026111613-1": its hour, in ms. Null for what is no directory of ours. */
export function hourOf(directory: string): number | null {
  const [, year, month, day, hour] = /^(\d{4})(\d\d)(\d\d)(\d\d)(?:-\d+)?$/.exec(directory) ?? [];
  return year === undefined ? null : Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour));
}

export interface Emptied {
  /** How many runs went. */
  readonly gone: number;
  /** The directory went too; if not, the next time may have more luck. */
  readonly all: boolean;
}

export async function emptyDirectory(directory: string, ports: ArchivePorts): Promise<Emptied> {
  const { session, shard, keep, write } = ports;
  const path = paths.doneDirectory(shard, directory);
  const listed = await session.children(path);
  if (!listed.ok) return { gone: 0, all: false };
  const names = listed.value.names.flatMap((name) => parseDoneName(name) ?? []);
  let gone = 0;
  for (let from = 0; from < names.length; from += STEP_JOBS) {
    const some = names.slice(from, from + STEP_JOBS);
    const entry = (run: { readonly id: number; readonly token: string }): string =>
      paths.doneEntry(shard, directory, run.id, run.token);
    const reads = some.flatMap((run) => [{ get: entry(run) }, { get: `${entry(run)}/r` }]);
    const read = await session.readMany(reads);
    if (!read.ok) return { gone, all: false };
    const runs = some.flatMap((run, n) => runOf(run, read.value[2 * n], read.value[2 * n + 1]) ?? []);
    if (runs.length < some.length) return { gone, all: false };
    await keep(runs);
    const ops = reads.flatMap(({ get }, n): Op[] =>
      read.value[n]?.kind === "node" ? [{ op: "delete", path: get, version: 0 }] : [],
    );
    // Children first: each entry's result was read after it.
    if (!(await write(ops.reverse()))) return { gone, all: false };
    gone += some.length;
  }
  return { gone, all: await write([{ op: "delete", path, version: 0 }]) };
}

function runOf(
  { id, token }: { readonly id: number; readonly token: string },
  entry: ReadAnswer | undefined,
  result: ReadAnswer | undefined,
): EndedRun | null {
  if (entry?.kind !== "node") return null;
  const done = records.done.decode(entry.node.data);
  if (!done.ok) return null;
  return {
    id,
    token,
    done: result?.kind === "node" ? { ...done.value, result: result.node.data.toString("utf8") } : done.value,
  };
}
