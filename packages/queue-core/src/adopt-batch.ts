/**
 * Batches that a program beside this fleet has made: taken over with their own numbers and names, as they stand. A
 * pending one is expanded by our intake; one of which all jobs are there is worked and reported by us. What is still
 * being made, and what nobody can tell to be whole, is left alone.
 */
import type { Op } from "@sluice/zookeeper";
import { adoptJobs, withEpoch } from "./adopt-job.ts";
import { expansionOp } from "./batch-ops.ts";
import type { QueueContext } from "./context.ts";
import type { BatchId, JobId } from "./ids.ts";
import { createOp, deleteOp, setOp } from "./job-ops.ts";
import { paths } from "./paths.ts";
import { records } from "./records.ts";
import type { BatchState } from "./states.ts";
import { formatTimestamp } from "./timestamp.ts";
import type { UnknownBatch } from "./unknown-batches.ts";

export type Adoption =
  | { readonly kind: "adopted"; readonly as: BatchState; readonly jobs: number }
  /** Not yet, or never by itself: `why` is for people. */
  | { readonly kind: "waits"; readonly why: string }
  | { readonly kind: "lost" };

export interface Adopter {
  readonly epoch: number;
  /** For histories. */
  readonly by: string;
  /** Jobs of a batch of the program's: every one names its batch from its first moment on. */
  readonly jobsOf: (id: BatchId) => Promise<readonly JobId[] | null>;
}

type Whole = NonNullable<UnknownBatch["whole"]>;

const UNFINISHED =
  "its jobs are being made; if whoever made them has ended, nobody can tell how many are lacking: `sluice import --assume-expanded`";

export async function adoptBatch(ctx: QueueContext, adopter: Adopter, batch: UnknownBatch): Promise<Adoption> {
  const { id, whole, isLocked, missing } = batch;
  if (whole === null) return { kind: "waits", why: "it was not made to its end" };
  if (isLocked) return { kind: "waits", why: "whoever made it has it in hand" };
  switch (whole.state) {
    case "Pending":
    case "Held":
      // With `states` the library says that somebody has begun to make the jobs.
      if (!missing.includes(paths.batchStates(id))) return { kind: "waits", why: UNFINISHED };
      return await settle(ctx, id, whole.state, 0, [
        { op: "check", path: paths.batchStatus(id), version: whole.statusVersion },
        ...listOps(adopter, batch, whole, whole.state),
      ]);
    case "Reporting":
      // So the library says that all jobs are made: they are not over.
      return await takeOver(ctx, adopter, batch, whole);
    case "Processing":
      return { kind: "waits", why: UNFINISHED };
    default:
      return { kind: "waits", why: `it came to ${whole.state} without this fleet` };
  }
}

async function takeOver(ctx: QueueContext, adopter: Adopter, batch: UnknownBatch, whole: Whole): Promise<Adoption> {
  const { id, missing } = batch;
  const jobs = await adopter.jobsOf(id);
  if (jobs === null) return { kind: "lost" };
  if (jobs.length === 0) return { kind: "waits", why: "it has not one job" };
  const adopted = await adoptJobs(ctx, adopter, jobs);
  if (adopted.kind !== "adopted") return adopted;
  const rows = jobs.length;
  const status = { status: "Processing", last_modified: formatTimestamp(ctx.clock.nowMs()), message: "" } as const;
  return await settle(ctx, id, "Processing", rows, [
    setOp(paths.batchStatus(id), records.batchStatus.encode(status), whole.statusVersion),
    expansionOp(id, { rows, created: rows, digest: "", reports: 0, op: ctx.newId() }, null),
    ...missing.map((path) => createOp(path)),
    ...listOps(adopter, batch, whole, "Processing"),
  ]);
}

/** Refused while anybody has it locked. */
async function settle(
  ctx: QueueContext,
  id: BatchId,
  as: BatchState,
  jobs: number,
  ops: readonly Op[],
): Promise<Adoption> {
  const lock = paths.batchLock(id);
  const answer = await ctx.committer.submit({ rank: "commit", ops: [...ops, createOp(lock), deleteOp(lock)] });
  if (answer.ok) return { kind: "adopted", as, jobs };
  return answer.code === "SESSION_LOST" ? { kind: "lost" } : { kind: "waits", why: "it changed meanwhile" };
}

/** In our index under that state alone, and with the epoch: number and epoch name its folder. */
function listOps({ epoch }: Adopter, { id, entries }: UnknownBatch, whole: Whole, as: BatchState): readonly Op[] {
  const dated = withEpoch(whole.submission, epoch);
  return [
    ...(dated === null ? [] : [setOp(paths.batchSubmission(id), dated, whole.submissionVersion)]),
    ...entries.flatMap(({ state, version }) => (state === as ? [] : [deleteOp(paths.fleetBatch(state, id), version)])),
    ...(entries.some(({ state }) => state === as) ? [] : [createOp(paths.fleetBatch(as, id))]),
  ];
}
