/** What has ended leaves the tree: old directories of the archive are handed to a keeper, and deleted when it has them. */
import type { Op, Session } from "@sluice/zookeeper";
import { STEP_JOBS } from "../limits.ts";
import { paths } from "../paths.ts";
import type { EndedRun } from "../run-archive.ts";
import { readRuns } from "./done-entries.ts";
import type { DoneName } from "./done-index.ts";

export interface ArchivePorts {
  readonly session: Session;
  readonly shard: number;
  readonly keep: (runs: readonly EndedRun[]) => Promise<void>;
  /** False: the term is over. */
  readonly write: (ops: readonly Op[]) => Promise<boolean>;
}

export interface Emptied {
  /** How many runs went. */
  readonly gone: number;
  /** The directory went too; if not, the next time may have more luck. */
  readonly all: boolean;
}

export async function emptyDirectory(
  directory: string,
  names: readonly DoneName[],
  ports: ArchivePorts,
): Promise<Emptied> {
  const { session, shard, keep, write } = ports;
  let gone = 0;
  for (let from = 0; from < names.length; from += STEP_JOBS) {
    const read = await readRuns(session, shard, names.slice(from, from + STEP_JOBS), "whole");
    if (read === "silence") return { gone, all: false };
    // What is not there went the last time, which did not come to its end.
    const there = read.flatMap((each) => each ?? []);
    if (there.length === 0) continue;
    await keep(there.map(({ run }) => run));
    const nodes = there.flatMap((each) => each.nodes);
    if (!(await write(nodes.map((path): Op => ({ op: "delete", path, version: 0 }))))) return { gone, all: false };
    gone += there.length;
  }
  const path = paths.doneDirectory(shard, directory);
  return { gone, all: await write([{ op: "delete", path, version: 0 }]) };
}
