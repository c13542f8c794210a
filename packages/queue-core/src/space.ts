/**
 * Room in the working volume. Admitted jobs are summed from the tree; admitting sets the counter /fleet/space at the
 * version read before the sum, so that two provisioners cannot give the same room away twice.
 */
import type { Read, Session } from "@sluice/zookeeper";
import type { JobId } from "./ids.ts";
import type { Guard } from "./job.ts";
import { setOp } from "./job-ops.ts";
import { parseQueueEntry, paths } from "./paths.ts";
import { records } from "./records.ts";
import { JOB_STATES, type JobState } from "./states.ts";
import { PIPELINE } from "./transitions.ts";

/** Jobs in these states have, or may have, files: those past admission, and those that ended and are not swept yet. */
export const HOLDS_SPACE: readonly JobState[] = JOB_STATES.filter(
  (state) => PIPELINE.indexOf(state) > PIPELINE.indexOf("Provisioning") || state === "Completed" || state === "Failed",
);

export interface SpaceLedger {
  /** Version and value of /fleet/space, read before the sum. */
  readonly version: number;
  readonly counter: number;
  readonly reservedBytes: number;
}

export interface SpaceReader {
  read(): Promise<SpaceLedger | null>;
  /** What single jobs need, from the cache or the tree. */
  needs(ids: readonly JobId[]): Promise<ReadonlyMap<JobId, number> | null>;
}

const READS_MAX = 500;

/**
 * Remembers what each job needs: the node changes only when the estimator or the downloader commits, that is, before
 * the job comes here or when it leaves Downloading; entries are dropped when their job is no longer listed.
 */
export function makeSpaceReader(session: Session): SpaceReader {
  const cache = new Map<string, number>();

  async function needsOf(keys: readonly { readonly id: JobId; readonly key: string }[]): Promise<boolean> {
    const unknown = keys.filter(({ key }) => !cache.has(key));
    for (let i = 0; i < unknown.length; i += READS_MAX) {
      const slice = unknown.slice(i, i + READS_MAX);
      const answers = await session.readMany(slice.map(({ id }): Read => ({ get: paths.jobSpaceNeeded(id) })));
      if (!answers.ok) return false;
      for (const [j, { key }] of slice.entries()) {
        const answer = answers.value[j];
        const needed = answer?.kind === "node" ? records.spaceNeeded.decode(answer.node.data) : null;
        if (needed?.ok === true) cache.set(key, needed.value);
      }
    }
    return true;
  }

  return {
    async read() {
      const counter = await session.get(paths.space);
      if (!counter.ok) return null;
      const lists = await session.readMany(HOLDS_SPACE.map((state): Read => ({ children: paths.queue(state) })));
      if (!lists.ok) return null;
      // Keyed by state too: leaving Downloading corrects the estimate.
      const keys = lists.value.flatMap((answer, i) =>
        (answer.kind === "children" ? answer.names : []).flatMap((name) => {
          const entry = parseQueueEntry(name);
          return entry === null ? [] : [{ id: entry.id, key: `${HOLDS_SPACE[i] ?? ""}/${entry.id}` }];
        }),
      );
      if (!(await needsOf(keys))) return null;
      const live = new Set(keys.map(({ key }) => key));
      for (const key of cache.keys()) if (!live.has(key) && !key.startsWith("?")) cache.delete(key);
      const value = records.counter.decode(counter.value.data);
      return {
        version: counter.value.stat.version,
        counter: value.ok ? value.value : 0,
        reservedBytes: keys.reduce((sum, { key }) => sum + (cache.get(key) ?? 0), 0),
      };
    },
    async needs(ids) {
      const keys = ids.map((id) => ({ id, key: `?/${id}` }));
      if (!(await needsOf(keys))) return null;
      const wanted = new Set(keys.map(({ key }) => key));
      for (const key of cache.keys()) if (key.startsWith("?") && !wanted.has(key)) cache.delete(key);
      return new Map(keys.map(({ id, key }) => [id, cache.get(key) ?? 0]));
    },
  };
}

/** Shared by all moves that one decision admits: the first multi that carries it makes the others decide anew. */
export const spaceGuard = (ledger: SpaceLedger): Guard => [
  setOp(paths.space, records.counter.encode(ledger.counter + 1), ledger.version),
];
