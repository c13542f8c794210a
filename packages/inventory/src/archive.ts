/** Batches that have left the queue, as JSON: the archive keeps what it is given and asks nothing of it. */

export type JsonObject = Readonly<Record<string, unknown>>;

export interface ArchivedJob {
  /** jid… */
  readonly id: string;
  /** jid-UUID. */
  readonly uuid: string;
  /** How it ended. */
  readonly outcome: { readonly status: string } & JsonObject;
  readonly configuration: JsonObject;
  readonly identifiers: JsonObject | null;
  readonly metadata: JsonObject | null;
  readonly inventory: JsonObject | null;
  readonly events: readonly unknown[];
}

interface BatchFacts {
  /** bid… */
  readonly id: string;
  /** bid-UUID; the number where a batch has none. */
  readonly uuid: string;
  readonly outcome: { readonly status: string } & JsonObject;
  readonly profile: string;
  readonly submitter: string;
  readonly submission: JsonObject;
  readonly reports: readonly JsonObject[];
  /** RFC 3339. */
  readonly archivedAt: string;
}

export interface BatchToArchive extends BatchFacts {
  /** Page by page: a batch may have more jobs than fit into memory. */
  readonly jobs: AsyncIterable<readonly ArchivedJob[]> | Iterable<readonly ArchivedJob[]>;
}

export interface ArchivedBatch extends BatchFacts {
  /** Number of jobs by the state in which they ended. */
  readonly jobCounts: Readonly<Record<string, number>>;
}
