/**
 * Which jobs there are, in which state, and whose they are: what lists, filters and counts are made from. A page then
 * reads its own jobs afresh. See docs/adr for why this is not ZooKeeper's to answer each time.
 */
import { HOLDS_SPACE, type JobId, JOB_STATES, type JobState } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import { FACTS_PER_READ, type JobFacts, FactStore, type Place } from "./facts.ts";
import { type Listing, makeListings } from "./listing.ts";

export interface CollectionCount {
  readonly jobs: Record<JobState, number>;
  spaceNeeded: number;
}

export interface Counted {
  readonly atMs: number;
  readonly byCollection: ReadonlyMap<string, CollectionCount>;
  /** Jobs whose collection has not been read yet. */
  readonly unread: number;
  /** What admitted jobs need. */
  readonly reservedBytes: number;
}

export interface JobIndex {
  list(session: Session, states?: readonly JobState[]): Promise<readonly Listing[] | null>;
  factsOf(id: JobId): JobFacts | null;
  /** Facts of these jobs, read if they are not known; null = no answer. */
  learn(session: Session, places: readonly Place[]): Promise<boolean>;
  count(session: Session): Promise<Counted | null>;
  /** Reads some of what is not known yet; false = there was nothing to do, or nobody answers. */
  fill(session: Session): Promise<boolean>;
  /** The next list must be true. */
  refresh(): void;
}

/** Jobs known to the index and not listed any more are let go when there are so many of them. */
const LEFTOVERS_MAX = 10_000;
const COUNT_MAX_AGE_MS = 1_000;

export function makeJobIndex(clock: { readonly nowMs: () => number; readonly monotonicMs: () => number }): JobIndex {
  const listings = makeListings(clock.monotonicMs);
  const facts = new FactStore();
  let counted: { readonly value: Counted; readonly atMs: number } | null = null;
  /** Found missing by one walk over the names, the next to be read last. */
  let missing: Place[] = [];

  const dropLeftovers = (all: readonly Listing[]): void => {
    const listed = all.reduce((sum, { entries }) => sum + entries.length, 0);
    if (facts.size <= listed + LEFTOVERS_MAX) return;
    const there = new Set(all.flatMap(({ entries }) => entries.map(({ id }) => id)));
    facts.drop((id) => there.has(id));
  };

  return {
    list: (session, states) => listings.list(session, states),
    factsOf: (id) => facts.get(id),
    learn: (session, places) =>
      facts.read(
        session,
        places.filter(({ id }) => facts.get(id) === null),
      ),
    async count(session) {
      if (counted !== null && clock.monotonicMs() - counted.atMs < COUNT_MAX_AGE_MS) return counted.value;
      const all = await listings.list(session);
      if (all === null) return null;
      counted = { value: countUp(all, facts, clock.nowMs()), atMs: clock.monotonicMs() };
      return counted.value;
    },
    async fill(session) {
      const all = await listings.list(session);
      if (all === null) return false;
      dropLeftovers(all);
      if (missing.length === 0) {
        missing = all.flatMap(({ state, entries }) =>
          entries.flatMap(({ id }) => (facts.isCurrent({ id, state }) ? [] : [{ id, state }])),
        );
      }
      if (missing.length === 0) return false;
      const some = missing.splice(-FACTS_PER_READ);
      return await facts.read(session, some);
    },
    refresh() {
      counted = null;
      listings.refresh();
    },
  };
}

function countUp(all: readonly Listing[], facts: FactStore, atMs: number): Counted {
  const byCollection = new Map<string, CollectionCount>();
  let unread = 0;
  let reservedBytes = 0;
  for (const { state, entries } of all) {
    const holdsSpace = HOLDS_SPACE.includes(state);
    for (const { id } of entries) {
      const known = facts.get(id);
      if (known === null) {
        unread += 1;
        continue;
      }
      const count = byCollection.get(known.collection) ?? noJobs();
      byCollection.set(known.collection, count);
      count.jobs[state] += 1;
      count.spaceNeeded += known.spaceNeeded;
      if (holdsSpace) reservedBytes += known.spaceNeeded;
    }
  }
  return { atMs, byCollection, unread, reservedBytes };
}

export const noJobs = (): CollectionCount => ({
  jobs: Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>,
  spaceNeeded: 0,
});
