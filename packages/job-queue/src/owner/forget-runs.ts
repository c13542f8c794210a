/** DeleteJob "removes all trace of a job": its runs go from the tree and from the archive. */
import type { Session } from "@sluice/zookeeper";
import { STEP_JOBS } from "../limits.ts";
import type { RunArchive } from "../run-archive.ts";
import { deleteLeaving, type LeavingPorts, readLeaving } from "./leaving.ts";

export interface ForgetPorts extends LeavingPorts {
  readonly session: Session;
  readonly archive: RunArchive | null;
  readonly written: () => Promise<boolean>;
}

/** False: nobody answers, or the term is over. What is left then goes when it is asked for again. */
export async function forgetRuns(ports: ForgetPorts, ids: ReadonlySet<number>): Promise<boolean> {
  const { session, shard, index, archive, written } = ports;
  const entries = [...ids].flatMap((id) => index.of(id));
  for (let from = 0; from < entries.length; from += STEP_JOBS) {
    // What is not in the tree yet cannot be read there.
    if (!(await written())) return false;
    const leaving = await readLeaving(session, shard, entries.slice(from, from + STEP_JOBS));
    if (leaving === null) return false;
    index.remove(leaving.filter(({ reading }) => reading !== "unreadable").map(({ entry }) => entry));
    deleteLeaving(ports, leaving);
  }
  if (!(await written())) return false;
  await archive?.forget(shard, ids);
  return true;
}
