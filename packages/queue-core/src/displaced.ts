/**
 * Finds jobs that are not where their status says, without reading each: entries of queues and buckets are counted against
 * each other, and only where the numbers disagree are names listed.
 */
import type { Read, Session } from "@sluice/zookeeper";
import { type BatchId, type JobId, parseBatchId, parseJobId } from "./ids.ts";
import { nodeOf, readable } from "./nodes.ts";
import { parseQueueEntry, paths } from "./paths.ts";
import { records } from "./records.ts";
import { BATCH_STATES, BUCKETS, JOB_STATES } from "./states.ts";
import { isEnded } from "./transitions.ts";

const PER_READ = 100;
/** The states in which a job is under way, for its batch. */
const UNDER_WAY = JOB_STATES.filter((state) => !isEnded(state));
/** Batches that are over have jobs that are over. */
const OPEN = BATCH_STATES.filter((state) => state !== "Completed" && state !== "Deleted");

/** Where one is suspected; a look at the job itself decides. null = no answer. */
export async function suspectsOfDisplacement(session: Session): Promise<ReadonlySet<JobId> | null> {
  const batches = await openBatches(session);
  const queues = await session.readMany(UNDER_WAY.map((state): Read => ({ get: paths.queue(state) })));
  if (batches === null || !queues.ok) return null;
  const counted = await count(session, batches);
  if (counted === null) return null;
  const queued = queues.value.reduce((sum, queue) => sum + (nodeOf(queue)?.stat.numChildren ?? 0), 0);
  const suspects = new Set<JobId>();
  for (const id of counted.odd) {
    const doubled = await listedTwice(session, id);
    if (doubled === null) return null;
    for (const each of doubled) suspects.add(each);
  }
  if (queued === counted.underWay && counted.odd.length === 0) return suspects;
  const apart = await inOneListOnly(session, batches);
  if (apart === null) return null;
  for (const each of apart) suspects.add(each);
  return suspects;
}

async function openBatches(session: Session): Promise<readonly BatchId[] | null> {
  const answers = await session.readMany(OPEN.map((state): Read => ({ children: paths.fleetBatchQueue(state) })));
  if (!answers.ok) return null;
  const names = answers.value.flatMap((answer) => (answer.kind === "children" ? answer.names : []));
  return names.flatMap((name) => parseBatchId(name) ?? []);
}

interface Counted {
  readonly underWay: number;
  /** Batches whose buckets hold more or fewer jobs than were made. */
  readonly odd: readonly BatchId[];
}

async function count(session: Session, batches: readonly BatchId[]): Promise<Counted | null> {
  let underWay = 0;
  const odd: BatchId[] = [];
  const width = BUCKETS.length + 1;
  for (let i = 0; i < batches.length; i += PER_READ) {
    const page = batches.slice(i, i + PER_READ);
    const reads = page.flatMap((id): Read[] => [
      { get: paths.expansion(id) },
      ...BUCKETS.map((bucket): Read => ({ get: paths.bucket(id, bucket) })),
    ]);
    const answers = await session.readMany(reads);
    if (!answers.ok) return null;
    for (const [k, id] of page.entries()) {
      const [expansionNode, ...buckets] = answers.value.slice(k * width, (k + 1) * width).map(nodeOf);
      const sizes = buckets.map((bucket) => bucket?.stat.numChildren ?? 0);
      underWay += sizes[BUCKETS.indexOf("batch-processing")] ?? 0;
      const made = readable(records.expansion, expansionNode)?.created ?? 0;
      if (sizes.reduce((sum, size) => sum + size, 0) !== made) odd.push(id);
    }
  }
  return { underWay, odd };
}

async function listedTwice(session: Session, id: BatchId): Promise<readonly JobId[] | null> {
  const answers = await session.readMany(BUCKETS.map((bucket): Read => ({ children: paths.bucket(id, bucket) })));
  if (!answers.ok) return null;
  const names = answers.value.flatMap((answer) => (answer.kind === "children" ? answer.names : []));
  const seen = new Set<string>();
  return names.flatMap((name) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return parseJobId(name) ?? [];
  });
}

/** In a queue and in no batch's list, or the other way round. */
async function inOneListOnly(session: Session, batches: readonly BatchId[]): Promise<readonly JobId[] | null> {
  const queued = new Set<JobId>();
  for (const state of UNDER_WAY) {
    const listed = await session.children(paths.queue(state));
    if (!listed.ok && listed.code !== "NO_NODE") return null;
    for (const name of listed.ok ? listed.value.names : []) {
      const entry = parseQueueEntry(name);
      if (entry !== null) queued.add(entry.id);
    }
  }
  const apart: JobId[] = [];
  for (const id of batches) {
    const listed = await session.children(paths.bucket(id, "batch-processing"));
    if (!listed.ok && listed.code !== "NO_NODE") return null;
    for (const name of listed.ok ? listed.value.names : []) {
      const job = parseJobId(name);
      if (job !== null && !queued.delete(job)) apart.push(job);
    }
  }
  return [...apart, ...queued];
}
