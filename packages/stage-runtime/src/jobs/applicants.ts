/** What a decision about space needs to know of each waiting job; read once per job, for it does not change here. */
import { type JobId, type QueueEntry, paths, records, type SpaceReader } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import type { AdmissionCandidate } from "../duty.ts";

const READS_MAX = 500;

interface Facts {
  readonly resource: string | undefined;
  readonly collection: string;
}

export class Applicants {
  readonly #session: Session;
  readonly #space: SpaceReader;
  #needs: ReadonlyMap<JobId, number> = new Map();
  #facts = new Map<JobId, Facts>();

  constructor(session: Session, space: SpaceReader) {
    this.#session = session;
    this.#space = space;
  }

  /** null = no answer. */
  async read(entries: readonly QueueEntry[]): Promise<readonly AdmissionCandidate[] | null> {
    const ids = entries.map(({ id }) => id);
    const needs = await this.#space.needs(ids);
    if (needs === null || !(await this.#readFacts(ids))) return null;
    this.#needs = needs;
    return entries.flatMap((entry) => this.known(entry) ?? []);
  }

  known({ id, priority }: QueueEntry): AdmissionCandidate | null {
    const spaceNeeded = this.#needs.get(id);
    return spaceNeeded === undefined ? null : { id, priority, spaceNeeded, resource: this.#facts.get(id)?.resource };
  }

  /** "" = it could not be read. */
  collectionOf(id: JobId): string {
    return this.#facts.get(id)?.collection ?? "";
  }

  async #readFacts(ids: readonly JobId[]): Promise<boolean> {
    const unread = ids.filter((id) => !this.#facts.has(id));
    const present = new Set(ids);
    for (const id of this.#facts.keys()) if (!present.has(id)) this.#facts.delete(id);
    for (let i = 0; i < unread.length; i += READS_MAX) {
      const part = unread.slice(i, i + READS_MAX);
      const answers = await this.#session.readMany(part.map((id) => ({ get: paths.jobConfiguration(id) })));
      if (!answers.ok) return false;
      for (const [j, answer] of answers.value.entries()) {
        const id = part[j];
        const configuration = answer.kind === "node" ? records.jobConfiguration.decode(answer.node.data) : null;
        if (id === undefined || configuration?.ok !== true) continue;
        const { resource_to_provision: resource, profile_name: collection } = configuration.value;
        this.#facts.set(id, { resource, collection });
      }
    }
    return true;
  }
}
