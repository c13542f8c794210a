/** Lists in pages: names are listed, but only the records of a page are read. */
import type { Session } from "@sluice/zookeeper";
import { type BatchId, type JobId, parseBatchId, parseJobId } from "./ids.ts";
import { paths } from "./paths.ts";
import { type BatchSummary, type JobView, readBatches, readJobs } from "./readers.ts";
import { type BatchState, type Bucket, BUCKETS } from "./states.ts";

export interface Page<T, P> {
  readonly items: readonly T[];
  /** Go on after this one; null = that was all. */
  readonly next: P | null;
}

export interface BatchQuery {
  /** Only batches older than this one: where the page before ended. */
  readonly before?: BatchId;
  readonly state?: BatchState;
  /** Which batches are wanted, of those in the state. */
  readonly wants?: (batch: BatchSummary) => boolean;
  readonly limit: number;
}

/** A filter that few batches pass must not read them all for one page: the page is then short, and goes on. */
export const BATCHES_SCANNED_MAX = 1_000;
/** … while nothing was found: who has few batches among many of others must not be shown an empty page. */
export const BATCHES_SCANNED_FOR_FIRST = 5_000;
const BATCHES_PER_READ = 100;
const JOBS_PER_READ = 100;

/** Newest first. null = no answer. Batches that come meanwhile are newer than any page that follows. */
export async function listBatches(
  session: Session,
  { before, state, wants, limit }: BatchQuery,
): Promise<Page<BatchSummary, BatchId> | null> {
  const names = await session.children(state === undefined ? paths.batches : paths.fleetBatchQueue(state));
  if (!names.ok) return names.code === "NO_NODE" ? { items: [], next: null } : null;
  const ids = names.value.names
    .flatMap((name) => parseBatchId(name) ?? [])
    .filter((id) => before === undefined || id < before);
  ids.sort((a, b) => (a < b ? 1 : -1));
  const items: BatchSummary[] = [];
  let scanned = 0;
  const most = (): number => Math.min(ids.length, items.length === 0 ? BATCHES_SCANNED_FOR_FIRST : BATCHES_SCANNED_MAX);
  while (scanned < most() && items.length < limit) {
    const step = wants === undefined ? Math.min(limit - items.length, BATCHES_PER_READ) : BATCHES_PER_READ;
    const some = ids.slice(scanned, Math.min(most(), scanned + step));
    const views = await readBatches(session, some);
    if (views === null) return null;
    for (const view of views) {
      if (items.length === limit) break;
      scanned += 1;
      // It may have gone, or moved on, since the names were listed.
      if (view.kind !== "found" || (state !== undefined && view.value.status.status !== state)) continue;
      if (wants?.(view.value) !== false) items.push(view.value);
    }
  }
  return { items, next: scanned < ids.length ? (ids[scanned - 1] ?? null) : null };
}

export interface JobQuery {
  readonly after?: JobId;
  /** All four if absent. */
  readonly bucket?: Bucket;
  readonly limit: number;
}

/** The jobs of a batch in the order of its rows. null = no answer. A job that moves meanwhile keeps its place. */
export async function listJobs(
  session: Session,
  batch: BatchId,
  { after, bucket, limit }: JobQuery,
): Promise<Page<JobView, JobId> | null> {
  const ids = await idsAfter(session, batch, bucket === undefined ? BUCKETS : [bucket], after);
  if (ids === null) return null;
  const wanted = ids.slice(0, limit);
  const items: JobView[] = [];
  for (let i = 0; i < wanted.length; i += JOBS_PER_READ) {
    const views = await readJobs(session, wanted.slice(i, i + JOBS_PER_READ));
    if (views === null) return null;
    for (const view of views) if (view.kind === "found") items.push(view.value);
  }
  return { items, next: ids.length > limit ? (wanted.at(-1) ?? null) : null };
}

async function idsAfter(
  session: Session,
  batch: BatchId,
  buckets: readonly Bucket[],
  after: JobId | undefined,
): Promise<readonly JobId[] | null> {
  const answers = await session.readMany(buckets.map((one) => ({ children: paths.bucket(batch, one) })));
  if (!answers.ok) return null;
  const ids = new Set<JobId>();
  for (const answer of answers.value) {
    for (const name of answer.kind === "children" ? answer.names : []) {
      const id = parseJobId(name);
      if (id !== null && (after === undefined || id > after)) ids.add(id);
    }
  }
  return [...ids].sort();
}
