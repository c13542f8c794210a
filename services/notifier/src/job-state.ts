import { printLocalIds } from "@sluice/ingest-formats";
import type { Identifiers, Inventory, JobConfiguration, Metadata } from "@sluice/queue-core";

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
}

const NAMESPACE = "http://uc3.cdlib.org/ontology/mrt/ingest/job";

/** Merritt's jobState in its JSON form. What is not known is left out, as Merritt leaves it out. */
export function jobStateJson(subject: CallbackSubject, news: CallbackNews): string {
  const facts = { ...outcomeFacts(news), ...objectFacts(subject), ...payloadFacts(subject) };
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

const objectFacts = ({ identifiers, metadata, inventory }: CallbackSubject) => ({
  primaryID: identifiers?.primary_id,
  localID: printLocalIds(identifiers?.local_id ?? []),
  versionID: inventory === null ? undefined : versionOf(inventory.manifest_url),
  objectTitle: metadata?.erc_what,
  objectCreator: metadata?.erc_who,
  objectDate: metadata?.erc_when,
});

const payloadFacts = ({ configuration, priority }: CallbackSubject) => ({
  packageName: configuration.payload_name,
  hashAlgorithm: configuration.digest_type,
  hashValue: configuration.digest_value,
  queuePriority: String(priority).padStart(2, "0"),
});

/** The stored version, where the URL of its manifest tells it (…/v3/inventory.json). */
function versionOf(manifestUrl: string): string | undefined {
  return /\/v0*(\d{1,9})\/[^/]*$/.exec(manifestUrl)?.[1];
}
