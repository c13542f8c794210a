/** What the queue knows of a batch, as the archive keeps it. Read page by page: a batch may have very many jobs. */
import type { ArchivedJob, ArchiveResult, BatchToArchive, Inventory, JsonObject } from "@sluice/inventory";
import {
  type BatchId,
  type BatchPlace,
  type BatchUuid,
  type BatchView,
  BUCKETS,
  type JobId,
  type JobView,
  listBucket,
  parseBatchUuid,
  placeOfBatch,
  type QueueContext,
  readBatch,
  readJobs,
  readReport,
  type Viewed,
} from "@sluice/queue-core";

export type Archive = Pick<Inventory, "archiveBatch">;

export type Archived =
  | Exclude<ArchiveResult, { readonly kind: "archived" }>
  /** `place`: of its folder; `uuid`: null of a batch that has none. */
  | { readonly kind: "archived"; readonly place: BatchPlace; readonly uuid: BatchUuid | null }
  /** It is not in the queue any more. */
  | { readonly kind: "gone" }
  | { readonly kind: "unreadable"; readonly message: string };

const JOBS_PER_PAGE = 100;

/** Leaves the pages of jobs: an archive with a gap must not become whole. */
class Silence extends Error {}

export async function archiveBatch(
  queue: QueueContext,
  id: BatchId,
  archive: Archive,
  archivedAt: string,
): Promise<Archived> {
  const batch = await readBatch(queue.session, id);
  if (batch.kind === "none") return { kind: "gone" };
  if (batch.kind !== "found")
    return { kind: "unreadable", message: batch.kind === "broken" ? batch.problem : batch.kind };
  const report = batch.value.report === null ? null : await readReport(queue, id, batch.value.report);
  if (batch.value.report !== null && report === null) return { kind: "unreadable", message: "no answer" };
  try {
    const reports = report === null ? [] : [{ ...report }];
    const facts = factsOf(batch.value, archivedAt);
    const result = await archive.archiveBatch({ ...facts, reports, jobs: pages(queue, id) });
    if (result.kind !== "archived") return result;
    const uuid = parseBatchUuid(batch.value.submission.batchID ?? "");
    return { kind: "archived", place: placeOfBatch(batch.value), uuid };
  } catch (error) {
    if (error instanceof Silence) return { kind: "unreadable", message: error.message };
    throw error;
  }
}

function factsOf(
  { id, status, submission, expansion }: BatchView,
  archivedAt: string,
): Omit<BatchToArchive, "jobs" | "reports"> {
  return {
    id,
    uuid: submission.batchID ?? id,
    outcome: { ...status, reports: expansion?.reports ?? 0 },
    profile: submission.profile_name,
    submitter: submission.submitter,
    submission: { ...submission },
    archivedAt,
  };
}

async function* pages(queue: QueueContext, id: BatchId): AsyncGenerator<readonly ArchivedJob[]> {
  for (const bucket of BUCKETS) {
    const ids = await listBucket(queue.session, id, bucket);
    if (ids === null) throw new Silence(`the jobs of ${id} could not be listed`);
    for (let first = 0; first < ids.length; first += JOBS_PER_PAGE)
      yield await page(queue, ids.slice(first, first + JOBS_PER_PAGE));
  }
}

async function page(queue: QueueContext, ids: readonly JobId[]): Promise<readonly ArchivedJob[]> {
  const views = await readJobs(queue.session, ids);
  if (views === null) throw new Silence("jobs could not be read");
  return views.flatMap((view, i) => archivedJob(ids[i], view));
}

/** A job that is gone was archived before its nodes went. */
function archivedJob(id: JobId | undefined, view: Viewed<JobView>): readonly ArchivedJob[] {
  if (id === undefined || view.kind === "none") return [];
  if (view.kind === "silence") throw new Silence(`${id} could not be read`);
  if (view.kind === "broken") return [{ ...NOTHING, id, uuid: id, outcome: { status: "", message: view.problem } }];
  const { status, configuration, identifiers, metadata, inventory, history } = view.value;
  return [
    {
      id,
      uuid: configuration.jobID ?? id,
      outcome: { ...status },
      configuration: { ...configuration },
      identifiers: copied(identifiers),
      metadata: copied(metadata),
      inventory: copied(inventory),
      events: history?.events ?? [],
    },
  ];
}

const NOTHING = { configuration: {}, identifiers: null, metadata: null, inventory: null, events: [] };

const copied = (record: object | null): JsonObject | null => (record === null ? null : { ...record });
