/** Submissions that were answered for and wait for the queue: what the HTTP side and the ingester see of the journal. */
import type { Journal, JournalStats, ReadRecord } from "@sluice/journal";
import type { BatchUuid, Submission } from "@sluice/queue-core";
import type { Failpoint } from "@sluice/stage-runtime";
import { decodeEntry, encodeEntry, type JournaledUpload } from "./entry.ts";
import type { RefusedArea, Refusal } from "./refused.ts";

export type Added =
  | { readonly kind: "added" }
  /** It waits already. */
  | { readonly kind: "replayed" }
  /** Something else waits under the same key. */
  | { readonly kind: "conflict" }
  | { readonly kind: "full" }
  | { readonly kind: "failed"; readonly why: string };

/** What is to be written down: its uploads are asked for only when there is room. */
export interface NewEntry {
  readonly uuid: BatchUuid;
  readonly submission: Submission;
  readonly keepUpload: () => Promise<KeptUpload>;
}

export type KeptUpload =
  | { readonly ok: true; readonly upload: JournaledUpload | null; readonly discard: () => Promise<void> }
  | { readonly ok: false; readonly why: string };

interface Known {
  readonly digest: string | undefined;
  /** Settles when it is on disk, or is known not to be. */
  readonly added: Promise<Added>;
  number: number | null;
}

export class Backlog {
  readonly #journal: Journal;
  readonly #refused: RefusedArea;
  readonly #failpoint: Failpoint;
  /** Also what is on its way to disk. */
  readonly #known = new Map<BatchUuid, Known>();
  #appended = 0;

  private constructor(journal: Journal, refused: RefusedArea, failpoint: Failpoint) {
    this.#journal = journal;
    this.#refused = refused;
    this.#failpoint = failpoint;
  }

  static async over(journal: Journal, refused: RefusedArea, failpoint: Failpoint): Promise<Backlog> {
    const backlog = new Backlog(journal, refused, failpoint);
    for (const number of journal.waiting()) {
      const entry = entryOf(await journal.read(number));
      if (entry === null) continue;
      const digest = entry.submission.request_digest;
      backlog.#known.set(entry.uuid, { digest, added: Promise.resolve({ kind: "added" }), number });
    }
    return backlog;
  }

  /** What comes now may go to the queue at once: nothing that came before it is still here. */
  get isEmpty(): boolean {
    return this.#known.size === 0 && this.#journal.stats().records === 0;
  }

  get appended(): number {
    return this.#appended;
  }

  stats(): JournalStats {
    return this.#journal.stats();
  }

  add(entry: NewEntry): Promise<Added> {
    const digest = entry.submission.request_digest;
    const known = this.#known.get(entry.uuid);
    if (known !== undefined) return again(known, digest);
    const added = this.#append(entry);
    this.#known.set(entry.uuid, { digest, added, number: null });
    return added;
  }

  async find(uuid: BatchUuid): Promise<Submission | null> {
    const number = this.#known.get(uuid)?.number ?? null;
    return number === null ? null : (entryOf(await this.#journal.read(number))?.submission ?? null);
  }

  refusals(uuid: BatchUuid): readonly Refusal[] {
    return this.#refused.under(uuid);
  }

  /** The record is done with, durably. */
  async consume(number: number, uuid: BatchUuid | null): Promise<void> {
    await this.#journal.consume(number);
    if (uuid !== null && this.#known.get(uuid)?.number === number) this.#known.delete(uuid);
  }

  async #append({ uuid, submission, keepUpload }: NewEntry): Promise<Added> {
    const answer = await this.#write({ uuid, submission, keepUpload }).catch((error: unknown) => failed(error));
    const known = this.#known.get(uuid);
    if (answer.kind !== "appended") {
      this.#known.delete(uuid);
      return answer;
    }
    if (known !== undefined) known.number = answer.number;
    this.#appended += 1;
    await this.#failpoint("afterJournal");
    return { kind: "added" };
  }

  async #write({ uuid, submission, keepUpload }: NewEntry) {
    if (this.#journal.stats().full) return { kind: "full" } as const;
    const kept = await keepUpload();
    if (!kept.ok) return { kind: "failed", why: kept.why } as const;
    await this.#failpoint("beforeJournal");
    const answer = await this.#journal.append(encodeEntry({ uuid, submission, upload: kept.upload }));
    // After a failure nobody knows whether it was written: then the files stay, until the journal is opened again.
    if (answer.kind === "full") await kept.discard();
    return answer;
  }
}

async function again({ digest: before, added }: Known, digest: string | undefined): Promise<Added> {
  const first = await added;
  if (first.kind !== "added") return first;
  return { kind: before === digest ? "replayed" : "conflict" };
}

export const entryOf = (record: ReadRecord) => (record.kind === "record" ? decodeEntry(record.data) : null);

const failed = (error: unknown): Added => ({ kind: "failed", why: String(error) });
