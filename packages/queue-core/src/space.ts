/**
 * Room in the working volume. Admitted jobs are summed from the tree; admitting sets the counter /fleet/space at the
 * version read before the sum, so that two provisioners cannot give the same room away twice.
 */
import type { Read, ReadAnswer, Session } from "@sluice/zookeeper";
import type { JobId } from "./ids.ts";
import type { Guard } from "./job.ts";
import { setOp } from "./job-ops.ts";
import { parseQueueEntry, paths } from "./paths.ts";
import { type JobStatus, records } from "./records.ts";
import { JOB_STATES, type JobState } from "./states.ts";
import { PIPELINE } from "./transitions.ts";

/** Jobs in these states have, or may have, files: those past admission, and those that ended and are not swept yet. */
export const HOLDS_SPACE: readonly JobState[] = JOB_STATES.filter(
  (state) => PIPELINE.indexOf(state) > PIPELINE.indexOf("Provisioning") || state === "Completed" || state === "Failed",
);

/** A failed job that was never admitted has no files, and nothing is promised to it. */
const wasAdmitted = ({ last_successful_status: last }: JobStatus): boolean =>
  last !== null && PIPELINE.indexOf(last) >= PIPELINE.indexOf("Provisioning");

export interface SpaceLedger {
  /** Version and value of /fleet/space, read before the sum. */
  readonly version: number;
  readonly counter: number;
  readonly reservedBytes: number;
  /** Of these, what failed jobs have: it does not come free before somebody acts. */
  readonly failedBytes: number;
  /** Jobs past admission that need nobody knows how much. */
  readonly unknownJobs: number;
}

export interface SpaceReader {
  read(): Promise<SpaceLedger | null>;
  /** What single jobs need, from the cache or the tree. */
  needs(ids: readonly JobId[]): Promise<ReadonlyMap<JobId, number> | null>;
}

const READS_MAX = 500;

interface Key {
  readonly id: JobId;
  readonly state: JobState | "";
  readonly key: string;
}

/** What a job needs, by its nodes; 0 = they do not say. */
function neededIn(state: Key["state"], space: ReadAnswer | undefined, status: ReadAnswer | undefined): number {
  const needed = space?.kind === "node" ? records.spaceNeeded.decode(space.node.data) : null;
  if (needed?.ok !== true) return 0;
  if (state !== "Failed") return needed.value;
  const decoded = status?.kind === "node" ? records.jobStatus.decode(status.node.data) : null;
  return decoded?.ok === true && !wasAdmitted(decoded.value) ? 0 : needed.value;
}

/**
 * Remembers what each job needs: the node changes only when the estimator or the downloader commits, that is, before
 * the job comes here or when it leaves Downloading; entries are dropped when their job is no longer listed.
 */
export function makeSpaceReader(session: Session): SpaceReader {
  const cache = new Map<string, number>();

  /** False = no answer: whoever decides must not take that for 0. */
  async function needsOf(keys: readonly Key[]): Promise<boolean> {
    const unread = keys.filter(({ key }) => !cache.has(key));
    for (let i = 0; i < unread.length; i += READS_MAX) {
      const slice = unread.slice(i, i + READS_MAX);
      const reads = slice.flatMap(({ id }): Read[] => [
        { get: paths.jobSpaceNeeded(id) },
        { get: paths.jobStatus(id) },
      ]);
      const answers = await session.readMany(reads);
      if (!answers.ok) return false;
      for (const [j, { key, state }] of slice.entries()) {
        cache.set(key, neededIn(state, answers.value[2 * j], answers.value[2 * j + 1]));
      }
    }
    return true;
  }

  return {
    async read() {
      const counter = await session.get(paths.space);
      if (!counter.ok) return null;
      const lists = await session.readMany(HOLDS_SPACE.map((state): Read => ({ children: paths.queue(state) })));
      if (!lists.ok || lists.value.some(({ kind }) => kind !== "children")) return null;
      // Keyed by state too: leaving Downloading corrects the estimate.
      const keys = lists.value.flatMap((answer, i) =>
        (answer.kind === "children" ? answer.names : []).flatMap((name): Key[] => {
          const entry = parseQueueEntry(name);
          const state = HOLDS_SPACE[i] ?? "";
          return entry === null ? [] : [{ id: entry.id, state, key: `${state}/${entry.id}` }];
        }),
      );
      if (!(await needsOf(keys))) return null;
      const live = new Set(keys.map(({ key }) => key));
      for (const key of cache.keys()) if (!live.has(key) && !key.startsWith("?")) cache.delete(key);
      const value = records.counter.decode(counter.value.data);
      const sumOf = (some: readonly Key[]): number => some.reduce((sum, { key }) => sum + (cache.get(key) ?? 0), 0);
      return {
        version: counter.value.stat.version,
        counter: value.ok ? value.value : 0,
        reservedBytes: sumOf(keys),
        failedBytes: sumOf(keys.filter(({ state }) => state === "Failed")),
        unknownJobs: keys.filter(({ key, state }) => state !== "Failed" && (cache.get(key) ?? 0) === 0).length,
      };
    },
    async needs(ids) {
      const keys = ids.map((id): Key => ({ id, state: "", key: `?/${id}` }));
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
