/** Holds and pauses that have an end: found and lifted when it has come, by nobody's hand. */
import type { Session } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { type HoldTarget, holdPath } from "./holds.ts";
import { nodeOf, readable } from "./nodes.ts";
import type { ActionResult, Operator } from "./operator.ts";
import { releaseHoldIf } from "./operator-holds.ts";
import { paths } from "./paths.ts";
import { type Hold, records } from "./records.ts";
import { STAGES } from "./states.ts";
import { parseTimestamp } from "./timestamp.ts";

/** Who acts where a time has come and no person does. */
export const SYSTEM = "system";

/** Not a time at all is no end: a hold rather stays than goes for a slip of the pen. */
const endedBy = ({ until }: Hold, nowMs: number): boolean => {
  const atMs = until === undefined ? null : parseTimestamp(until);
  return atMs !== null && atMs <= nowMs;
};

/** Everything held, paused or drained whose time is over; null = no answer. */
export async function listEndedHolds(session: Session, nowMs: number): Promise<readonly HoldTarget[] | null> {
  const directories = [paths.collectionLocks, paths.queueLocks, paths.pausedStages, paths.drains];
  const listed = await session.readMany(directories.map((children) => ({ children })));
  if (!listed.ok) return null;
  const [collections, queues, stages, workers] = listed.value.map((one) => (one.kind === "children" ? one.names : []));
  const targets: readonly HoldTarget[] = [
    ...(collections ?? []).map((profile) => ({ kind: "collection", profile }) as const),
    ...(queues?.length ? [{ kind: "queue" } as const] : []),
    ...STAGES.filter((stage) => stages?.includes(stage)).map((stage) => ({ kind: "stage", stage }) as const),
    ...(workers ?? []).map((worker) => ({ kind: "worker", worker }) as const),
  ];
  if (targets.length === 0) return [];
  const nodes = await session.readMany(targets.map((target) => ({ get: holdPath(target) })));
  if (!nodes.ok) return null;
  return targets.filter((_, i) => {
    const hold = readable(records.hold, nodeOf(nodes.value[i]));
    return hold !== null && endedBy(hold, nowMs);
  });
}

/** Only if it is still one whose time is over: an operator may have put up another meanwhile. */
export async function liftHold(ctx: QueueContext, target: HoldTarget): Promise<ActionResult> {
  const operator: Operator = { name: SYSTEM, reason: "its time is over" };
  return await releaseHoldIf(ctx, operator, target, (hold) =>
    hold !== null && endedBy(hold, ctx.clock.nowMs()) ? null : "its time is not over",
  );
}
