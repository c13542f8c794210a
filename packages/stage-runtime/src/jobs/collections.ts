/** Whose jobs and batches wait: read once for each, a few hundred at a time, for it never changes. */
import { parseBatchId, parseJobId, paths, records } from "@sluice/queue-core";
import type { EachAnswer, Session } from "@sluice/zookeeper";

/** So many are read at once: it delays nobody's claim by more than some milliseconds. */
export const LEARNED_AT_ONCE = 500;

export class Collections {
  readonly #session: Session;
  readonly #known = new Map<string, string>();
  /** Thousands of jobs share one string. */
  readonly #names = new Map<string, string>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** By the id of a job or batch; undefined = not known yet. "" stands for what has none, or cannot be read. */
  of(id: string): string | undefined {
    return this.#known.get(id);
  }

  async learn(ids: readonly string[]): Promise<void> {
    const unread = ids.filter((id) => !this.#known.has(id)).slice(0, LEARNED_AT_ONCE);
    const found = await readCollections(this.#session, unread);
    for (const [id, collection] of found) this.#known.set(id, this.#shared(collection));
  }

  keepOnly(present: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!present.has(id)) this.#known.delete(id);
  }

  #shared(name: string): string {
    const known = this.#names.get(name);
    if (known === undefined) this.#names.set(name, name);
    return known ?? name;
  }
}

/** By the id of a job or batch; "" stands for what has none, or cannot be read. Nothing where there was no answer. */
export async function readCollections(session: Session, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const asked = ids.flatMap((id) => {
    const path = pathOf(id);
    if (path === null) found.set(id, "");
    return path === null ? [] : [{ id, path }];
  });
  if (asked.length === 0) return found;
  const answers = await session.readEach(asked.map(({ path }) => ({ get: path })));
  if (answers.ok) for (const [i, { id }] of asked.entries()) found.set(id, profileIn(id, answers.value[i]));
  return found;
}

/** `jid0000000001`, `jid0000000001.2` (a callback), `bid0000000001`. */
const idIn = (name: string): string => name.split(".", 1)[0] ?? "";

function pathOf(name: string): string | null {
  const [job, batch] = [parseJobId(idIn(name)), parseBatchId(idIn(name))];
  if (job !== null) return paths.jobConfiguration(job);
  return batch === null ? null : paths.batchSubmission(batch);
}

function profileIn(name: string, answer: EachAnswer | undefined): string {
  if (answer?.kind !== "node") return "";
  const { data } = answer.node;
  const record =
    parseJobId(idIn(name)) === null ? records.submission.decode(data) : records.jobConfiguration.decode(data);
  return record.ok ? record.value.profile_name : "";
}
