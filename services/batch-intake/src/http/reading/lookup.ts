/** Where a batch or a job is: in the queue or, when it has left it, in the archive. */
import { type Problem, problem } from "@sluice/http-api";
import type { ArchivedBatch, ArchivedJob, Found, Inventory } from "@sluice/inventory";
import {
  type BatchView,
  type JobId,
  type JobView,
  parseBatchId,
  parseBatchUuid,
  parseJobId,
  parseJobUuid,
  type Viewed,
} from "@sluice/queue-core";
import type { Backlog } from "../../journal/backlog.ts";
import type { QueueReader } from "../../queue-reader.ts";
import { unavailable } from "../deps.ts";

export type Archive = Pick<Inventory, "findArchivedBatch" | "findArchivedJob" | "listArchivedJobs">;

export interface LookupParts {
  readonly reader: QueueReader;
  /** null: there is none to ask. */
  readonly archive: Archive | null;
  /** What waits for the queue. */
  readonly backlog: Pick<Backlog, "find" | "refusals">;
}

export type Sighting<Q, A> =
  | { readonly kind: "queue"; readonly value: Q }
  | { readonly kind: "archive"; readonly value: A }
  | { readonly kind: "problem"; readonly problem: Problem };

export async function findBatch(parts: LookupParts, raw: string): Promise<Sighting<BatchView, ArchivedBatch>> {
  const live = await batchInQueue(parts.reader, raw);
  return inQueueOrArchive(live, async () => (await parts.archive?.findArchivedBatch(raw)) ?? NONE);
}

async function batchInQueue(reader: QueueReader, raw: string): Promise<Viewed<BatchView>> {
  const bid = parseBatchId(raw);
  if (bid !== null) return reader.readBatch(bid);
  const uuid = parseBatchUuid(raw);
  const known = uuid === null ? NONE : await reader.batchOf(uuid);
  return known.kind === "found" ? reader.readBatch(known.value) : known;
}

export async function findJob(parts: LookupParts, raw: string): Promise<Sighting<JobView, ArchivedJob>> {
  const live = await jobInQueue(parts.reader, raw);
  return inQueueOrArchive(live, async () => (await parts.archive?.findArchivedJob(raw)) ?? NONE);
}

/** A UUID says where the job is, but not every job that is there is the one: the queue may have begun anew. */
async function jobInQueue(reader: QueueReader, raw: string): Promise<Viewed<JobView>> {
  const uuid = parseJobUuid(raw);
  const id: JobId | null = uuid === null ? parseJobId(raw) : await reader.jobOf(uuid);
  const view = id === null ? NONE : await reader.readJob(id);
  const isOther = uuid !== null && view.kind === "found" && (view.value.configuration.jobID ?? uuid) !== uuid;
  return isOther ? NONE : view;
}

const NONE = { kind: "none" } as const;

async function inQueueOrArchive<Q, A>(live: Viewed<Q>, archived: () => Promise<Found<A>>): Promise<Sighting<Q, A>> {
  if (live.kind === "found") return { kind: "queue", value: live.value };
  if (live.kind === "broken") return { kind: "problem", problem: problem("INTERNAL_ERROR", live.problem) };
  if (live.kind === "silence") return { kind: "problem", problem: NO_QUEUE };
  const kept = await archived();
  if (kept.kind === "found") return { kind: "archive", value: kept.value };
  return { kind: "problem", problem: kept.kind === "none" ? NOWHERE : NO_ARCHIVE };
}

export const NO_QUEUE = unavailable("the queue does not answer");
export const NO_ARCHIVE = unavailable("it is not in the queue, and the archive does not answer");
/** Also of what belongs to others: whether it exists is not for everybody to know. */
export const NOWHERE = problem("NOT_FOUND", "there is none with this id");
