/** What is known of each job without reading it again: to whom it belongs, and what it needs. Some 150 bytes each. */
import { type BatchId, type JobId, type JobState, paths, PIPELINE, records } from "@sluice/queue-core";
import type { EachAnswer, Session } from "@sluice/zookeeper";
import { nameOf } from "./search.ts";

export interface JobFacts {
  readonly batch: BatchId;
  readonly collection: string;
  readonly submitter: string;
  readonly name: string;
  readonly spaceNeeded: number;
  /** The state it was in then: what it needs changes until it has been downloaded. */
  readonly readIn: JobState;
}

export interface Place {
  readonly id: JobId;
  readonly state: JobState;
}

/** A small request each: others wait behind it. */
export const FACTS_PER_READ = 200;
/** More jobs than any queue may hold; beyond that facts are read when they are needed, and not kept. */
const FACTS_MAX = 500_000;

const isSettled = (state: JobState): boolean => !PIPELINE.slice(0, PIPELINE.indexOf("Processing")).includes(state);

export class FactStore {
  readonly #facts = new Map<JobId, JobFacts>();
  /** Collections and submitters are few: one string each, however many jobs name them. */
  readonly #words = new Map<string, string>();

  get size(): number {
    return this.#facts.size;
  }

  get(id: JobId): JobFacts | null {
    return this.#facts.get(id) ?? null;
  }

  /** Whether what is known is as good as a look would make it. */
  isCurrent({ id, state }: Place): boolean {
    const facts = this.#facts.get(id);
    return facts !== undefined && (isSettled(facts.readIn) || facts.readIn === state);
  }

  /** Reads what is missing; false = no answer. */
  async read(session: Session, places: readonly Place[]): Promise<boolean> {
    for (let i = 0; i < places.length; i += FACTS_PER_READ) {
      const some = places.slice(i, i + FACTS_PER_READ);
      const answers = await session.readEach(
        some.flatMap(({ id }) => [
          { get: paths.jobBid(id) },
          { get: paths.jobConfiguration(id) },
          { get: paths.jobSpaceNeeded(id) },
        ]),
      );
      if (!answers.ok) return false;
      for (const [k, place] of some.entries()) this.#take(place, answers.value.slice(k * 3, k * 3 + 3));
    }
    return true;
  }

  /** Keeps only what `isThere` names: deleted jobs must not stay for ever. */
  drop(isThere: (id: JobId) => boolean): void {
    for (const id of this.#facts.keys()) if (!isThere(id)) this.#facts.delete(id);
    if (this.#words.size > FACTS_MAX) this.#words.clear();
  }

  #take({ id, state }: Place, [bidNode, configurationNode, spaceNode]: readonly EachAnswer[]): void {
    const bid = bidNode?.kind === "node" ? records.bid.decode(bidNode.node.data) : null;
    const configuration =
      configurationNode?.kind === "node" ? records.jobConfiguration.decode(configurationNode.node.data) : null;
    const space = spaceNode?.kind === "node" ? records.spaceNeeded.decode(spaceNode.node.data) : null;
    if (bid?.ok !== true || configuration?.ok !== true) return;
    if (this.#facts.size >= FACTS_MAX && !this.#facts.has(id)) return;
    const { profile_name, submitter, payload_name, payload_url } = configuration.value;
    this.#facts.set(id, {
      batch: this.#word(bid.value),
      collection: this.#word(profile_name),
      submitter: this.#word(submitter),
      name: nameOf(payload_name, payload_url, id),
      spaceNeeded: space?.ok === true ? space.value : 0,
      readIn: state,
    });
  }

  #word<T extends string>(word: T): T {
    const known = this.#words.get(word);
    if (known !== undefined) return known as T;
    this.#words.set(word, word);
    return word;
  }
}
