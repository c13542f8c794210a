/** The names in the queues. A queue is listed only when its directory says that something came or went. */
import { JOB_STATES, type JobState, paths, type QueueEntry, sortEntries } from "@sluice/queue-core";
import type { Session, Stat } from "@sluice/zookeeper";

/** The jobs of one state, by priority, then by number. */
export interface Listing {
  readonly state: JobState;
  readonly entries: readonly QueueEntry[];
  /** When it was true, by our monotonic clock. */
  readonly asOfMs: number;
}

export interface Listings {
  /** Of all states asked for; null = no answer. */
  list(session: Session, states?: readonly JobState[]): Promise<readonly Listing[] | null>;
  /** Whoever has just changed something wants to see it. */
  refresh(): void;
}

interface Known extends Listing {
  /** Changes with each entry made or taken away, and with the tree. */
  readonly version: string;
}

const FRESH_MS = 250;
/** Names of a deep queue take long to fetch and sort: under steady change at most a tenth of the time goes there. */
const FRESH_MS_PER_ENTRY = 0.01;

const versionOf = ({ czxid, pzxid }: Stat): string => `${czxid}.${pzxid}`;

export function makeListings(monotonicMs: () => number): Listings {
  const known = new Map<JobState, Known>();
  let looking: Promise<boolean> | null = null;
  let demanded = 0;

  const isFresh = (state: JobState): boolean => {
    const listing = known.get(state);
    if (listing === undefined || listing.asOfMs < demanded) return false;
    return monotonicMs() - listing.asOfMs < FRESH_MS + listing.entries.length * FRESH_MS_PER_ENTRY;
  };

  async function look(session: Session): Promise<boolean> {
    const stale = JOB_STATES.filter((state) => !isFresh(state));
    const startedMs = monotonicMs();
    const stats = await session.readMany(stale.map((state) => ({ get: paths.queue(state) })));
    if (!stats.ok) return false;
    for (const [i, state] of stale.entries()) {
      const answer = stats.value[i];
      const before = known.get(state);
      const version = answer?.kind === "node" ? versionOf(answer.node.stat) : "none";
      if (before?.version === version) known.set(state, { ...before, asOfMs: startedMs });
      else if (!(await listAnew(session, state, startedMs))) return false;
    }
    return true;
  }

  async function listAnew(session: Session, state: JobState, asOfMs: number): Promise<boolean> {
    const listed = await session.children(paths.queue(state));
    if (!listed.ok && listed.code !== "NO_NODE") return false;
    const version = listed.ok ? versionOf(listed.value.stat) : "none";
    known.set(state, { state, version, asOfMs, entries: listed.ok ? sortEntries(listed.value.names) : [] });
    return true;
  }

  return {
    async list(session, states = JOB_STATES) {
      // A look that began before the last demand may have missed what it was about.
      for (let round = 0; round < 2 && !states.every(isFresh); round++) {
        looking ??= look(session).finally(() => (looking = null));
        if (!(await looking)) return null;
      }
      return states.flatMap((state) => known.get(state) ?? []);
    },
    refresh() {
      demanded = monotonicMs();
    },
  };
}
