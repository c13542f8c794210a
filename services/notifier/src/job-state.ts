import { printLocalIds } from "@sluice/ingest-formats";
import {
  type Identifiers,
  type Inventory,
  type JobConfiguration,
  type Metadata,
  parseTimestamp,
  storedVersion,
} from "@sluice/queue-core";

export type CallbackOutcome = "COMPLETED" | "FAILED";

/** What a callback tells, wherever it was found: in a claimed job, or in the tree of one that failed. */
export interface CallbackSubject {
  readonly configuration: JobConfiguration;
  readonly identifiers: Identifiers | null;
  readonly metadata: Metadata | null;
  readonly inventory: Inventory | null;
  readonly priority: number;
}

export interface CallbackNews {
  /** The job's name outside: jid-UUID. */
  readonly jobName: string;
  readonly outcome: CallbackOutcome;
  readonly message: string;
  readonly endedAtMs: number;
  /** Where objects are found by their ARK, with a slash at the end; null = nobody said. */
  readonly persistentUrlBase: string | null;
}

const NAMESPACE = "http://uc3.cdlib.org/ontology/mrt/ingest/job";

/** Merritt's jobState in its JSON form. What is not known is left out, as Merritt leaves it out. */
export function jobStateJson(subject: CallbackSubject, news: CallbackNews): string {
  const facts = { ...outcomeFacts(news), ...objectFacts(subject, news), ...payloadFacts(subject) };
  const state: Record<string, string> = { "xmlns:job": NAMESPACE };
  for (const [name, value] of Object.entries(facts)) if (value) state[`job:${name}`] = value;
  return JSON.stringify({ "job:jobState": state });
}

const outcomeFacts = (news: CallbackNews) => ({
  jobID: news.jobName,
  jobStatus: news.outcome,
  jobStatusMessage: news.message,
  completionDate: new Date(news.endedAtMs).toISOString(),
});

const objectFacts = ({ identifiers, metadata, inventory }: CallbackSubject, news: CallbackNews) => ({
  primaryID: identifiers?.primary_id,
  localID: printLocalIds(identifiers?.local_id ?? []),
  persistentURL: persistentUrl(identifiers?.primary_id ?? null, news.persistentUrlBase),
  versionID: inventory === null ? undefined : storedVersion(inventory)?.toString(),
  objectTitle: metadata?.erc_what,
  objectCreator: metadata?.erc_who,
  objectDate: metadata?.erc_when,
});

const payloadFacts = ({ configuration, priority }: CallbackSubject) => ({
  submissionDate: submissionDate(configuration),
  packageName: configuration.payload_name,
  hashAlgorithm: configuration.digest_type,
  hashValue: configuration.digest_value,
  queuePriority: String(priority).padStart(2, "0"),
});

const persistentUrl = (ark: string | null, base: string | null): string | undefined =>
  ark === null || base === null ? undefined : `${base}${ark}`;

/** As the submission gave it to its jobs, in either of the spellings; Merritt's receivers read RFC 3339. */
function submissionDate(configuration: JobConfiguration): string | undefined {
  const given = configuration["submission_date"] ?? configuration["submissionDate"];
  const atMs = typeof given === "string" ? parseTimestamp(given) : null;
  return atMs === null ? undefined : new Date(atMs).toISOString();
}
