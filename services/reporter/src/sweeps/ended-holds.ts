import {
  actOnBatch,
  type HoldTarget,
  type JobId,
  type JobView,
  liftHold,
  listEndedHolds,
  orderJobs,
  parkedUntil,
  parseQueueEntry,
  paths,
  type QueueContext,
  readBatch,
  readHolds,
  readJobs,
  SYSTEM,
} from "@sluice/queue-core";
import type { Sweep, SweepContext } from "@sluice/stage-runtime";
import { chunked, listBatches } from "./list-batches.ts";

const JOBS_PER_READ = 100;

export interface EndedHoldsParts {
  readonly onLifted?: (kind: HoldTarget["kind"]) => void;
  readonly onReleased?: (what: "job" | "batch", count: number) => void;
}

/** What was parked, and for which collection. */
interface Parked {
  readonly profile: string;
  readonly message: string;
}

/**
 * Lifts holds and pauses whose time is over, then lets go on what they had parked. What an operator held by hand, or a hold
 * without an end, waits for an operator. The parked know their end themselves, so that a death in between loses nobody.
 */
export const endedHoldsSweep = (parts: EndedHoldsParts, everyMs: number): Sweep => ({
  kind: "sweep",
  name: "ended-holds",
  everyMs,
  async run(ctx) {
    await liftEnded(ctx, parts);
    const holds = await readHolds(ctx.queue.session);
    if (!holds.ok) return;
    const nowMs = ctx.clock.nowMs();
    const isFree = ({ profile, message }: Parked): boolean => {
      const untilMs = parkedUntil(message);
      return untilMs !== null && untilMs <= nowMs && !holds.value.collections.has(profile);
    };
    await releaseBatches(ctx, parts, isFree);
    await releaseJobs(ctx, parts, isFree);
  },
});

async function liftEnded(ctx: SweepContext, { onLifted }: EndedHoldsParts): Promise<void> {
  for (const target of (await listEndedHolds(ctx.queue.session, ctx.clock.nowMs())) ?? []) {
    const lifted = await liftHold(ctx.queue, target);
    await ctx.failpoint("afterLift");
    if (lifted.kind !== "applied") continue;
    ctx.log.info({ ...target }, "a hold was lifted: its time is over");
    onLifted?.(target.kind);
  }
}

async function releaseBatches(
  ctx: SweepContext,
  { onReleased }: EndedHoldsParts,
  isFree: (parked: Parked) => boolean,
): Promise<void> {
  for (const id of (await listBatches(ctx.queue.session, "Held")) ?? []) {
    if (ctx.signal.aborted) return;
    const view = await readBatch(ctx.queue.session, id);
    if (view.kind !== "found") continue;
    const { status, submission } = view.value;
    if (!isFree({ profile: submission.profile_name, message: status.message })) continue;
    // An operator who was faster is no trouble.
    if ((await actOnBatch(ctx.queue, BY_TIME, "release", id)).kind !== "applied") continue;
    ctx.log.info({ batch_id: id }, "released: the hold that parked it is over");
    onReleased?.("batch", 1);
  }
}

async function releaseJobs(
  ctx: SweepContext,
  { onReleased }: EndedHoldsParts,
  isFree: (parked: Parked) => boolean,
): Promise<void> {
  for (const held of chunked(await heldJobs(ctx.queue), JOBS_PER_READ)) {
    const views = (await readJobs(ctx.queue.session, held)) ?? [];
    const ids = views.flatMap((view) =>
      view.kind === "found" && isFree(parkedJob(view.value)) ? [view.value.id] : [],
    );
    if (ids.length === 0) continue;
    const { progress } = await orderJobs(ctx.queue, BY_TIME, RELEASE, { ids }, { signal: ctx.signal });
    ctx.log.info({ jobs: progress.done, of: progress.total }, "jobs released: the hold that parked them is over");
    onReleased?.("job", progress.done);
    if (ctx.signal.aborted) return;
  }
}

const parkedJob = ({ configuration, status }: JobView): Parked => ({
  profile: configuration.profile_name,
  message: status.status === "Held" ? status.message : "",
});

async function heldJobs({ session }: QueueContext): Promise<readonly JobId[]> {
  const listed = await session.children(paths.queue("Held"));
  return listed.ok ? [...listed.value.names].sort().flatMap((name) => parseQueueEntry(name)?.id ?? []) : [];
}

const BY_TIME = { name: SYSTEM, reason: "the hold that parked it is over" };
const RELEASE = { action: "release" } as const;
