/**
 * Puts a job where its status says: into one queue and one bucket. Our own moves leave nothing to mend; a library without
 * transactions, ended or overtaken in the middle of a move, does.
 */
import type { Node, Op } from "@sluice/zookeeper";
import { type Beside, judgeWrite } from "./beside.ts";
import type { QueueContext } from "./context.ts";
import type { BatchId, JobId } from "./ids.ts";
import { createOp, deleteOp } from "./job-ops.ts";
import { nodeOf, readable } from "./nodes.ts";
import { clampPriority, paths } from "./paths.ts";
import { records } from "./records.ts";
import { BUCKETS, JOB_STATES, type JobState } from "./states.ts";
import { bucketOf, isFinal } from "./transitions.ts";

export type Placed =
  | { readonly kind: "in-place" | "mended" }
  /** A library without transactions has it in hand: its move may be half done, and would break at our help. */
  | { readonly kind: "in-hand" }
  /** Never this fleet's: not ours to touch. */
  | { readonly kind: "foreign" }
  /** Written by one who had lost it: where it belongs is for people to say. */
  | { readonly kind: "overwritten" }
  /** There is no such job, or it cannot be read. */
  | { readonly kind: "gone" }
  /** It moved on between the look and the write. */
  | { readonly kind: "changed" }
  | { readonly kind: "lost" };

interface Home {
  readonly batch: BatchId;
  readonly priority: number;
}

/** `beside`: whose work it may be, apart from this fleet's. */
export async function putInPlace(ctx: QueueContext, id: JobId, beside: Beside | null = null): Promise<Placed> {
  const home = await homeOf(ctx, id);
  if (home === "lost" || home === "gone") return { kind: home };
  const there = [paths.jobStatus(id), paths.jobPriority(id), paths.fleetJob(id), paths.jobLock(id)];
  const places = placesOf(id, home);
  const answers = await ctx.session.readMany([...there, ...places].map((get) => ({ get })));
  if (!answers.ok) return { kind: "lost" };
  const [status, priority, history, lock, ...found] = answers.value.map(nodeOf);
  const state = readable(records.jobStatus, status)?.status;
  if (!status || !priority || state === undefined) return { kind: "gone" };
  if (!history) return { kind: "foreign" };
  if (lock && !isOurs(lock)) return { kind: "in-hand" };
  if (beside !== null && isOverwritten(beside, state, status, history)) return { kind: "overwritten" };
  const wanted = [
    ...(isFinal(state) ? [] : [paths.queueEntry(state, home.priority, id)]),
    paths.bucketEntry(home.batch, bucketOf(state), id),
  ];
  const right = new Set([...wanted, paths.queueEntry(state, home.priority, id)]);
  const ops = [
    ...places.flatMap((path, i) => {
      const place = found[i];
      return place && !right.has(path) ? [deleteOp(path, place.stat.version)] : [];
    }),
    ...wanted.filter((path) => !found[places.indexOf(path)]).map((path) => createOp(path)),
  ];
  if (ops.length === 0) return { kind: "in-place" };
  const answer = await ctx.committer.submit({
    rank: "commit",
    ops: [
      { op: "check", path: paths.jobStatus(id), version: status.stat.version },
      { op: "check", path: paths.jobPriority(id), version: priority.stat.version },
      ...(lock ? [] : unlockedOps(id)),
      ...ops,
    ],
  });
  if (answer.ok) return { kind: "mended" };
  return { kind: answer.code === "SESSION_LOST" ? "lost" : "changed" };
}

function isOverwritten(beside: Beside, state: JobState, status: Node, history: Node): boolean {
  const job = readable(records.fleetJob, history);
  if (job === null) return false;
  return judgeWrite(beside, { state, stat: status.stat }, { job, stat: history.stat }).kind === "overwritten";
}

/** ZooKeeper cannot check that a node is absent, but it refuses to make one that is there. */
export const unlockedOps = (id: JobId): readonly Op[] => [createOp(paths.jobLock(id)), deleteOp(paths.jobLock(id))];

/** Our locks say whose they are, and our moves are whole; CDL's are empty. */
const isOurs = (lock: Node): boolean => records.lock.decode(lock.data).ok;

async function homeOf({ session }: QueueContext, id: JobId): Promise<Home | "gone" | "lost"> {
  const answers = await session.readMany([{ get: paths.jobBid(id) }, { get: paths.jobPriority(id) }]);
  if (!answers.ok) return "lost";
  const [bid, priority] = answers.value.map(nodeOf);
  const home = { batch: readable(records.bid, bid), priority: readable(records.priority, priority) };
  if (home.batch === null || home.priority === null) return "gone";
  return { batch: home.batch, priority: clampPriority(home.priority) };
}

const placesOf = (id: JobId, { batch, priority }: Home): readonly string[] => [
  ...JOB_STATES.map((state) => paths.queueEntry(state, priority, id)),
  ...BUCKETS.map((bucket) => paths.bucketEntry(batch, bucket, id)),
];
