/**
 * Holds and pauses. Each change also sets the counter /fleet/holds; a move that starts work carries a check of that
 * counter's version, read before the holds: a hold that came in between refuses the move.
 */
import type { Answer, Op, ReadAnswer, Session } from "@sluice/zookeeper";
import type { Guard } from "./job.ts";
import { createOp, deleteOp, setOp } from "./job-ops.ts";
import { paths } from "./paths.ts";
import { type Hold, records } from "./records.ts";
import type { Stage } from "./states.ts";

export interface Holds {
  /** Version of /fleet/holds, read before everything else here. */
  readonly version: number;
  readonly collections: ReadonlySet<string>;
  readonly queuePaused: boolean;
  readonly pausedStages: ReadonlySet<string>;
}

const names = (answer: ReadAnswer | undefined): readonly string[] => (answer?.kind === "children" ? answer.names : []);

export async function readHolds(session: Session): Promise<Answer<Holds>> {
  const answers = await session.readMany([
    { get: paths.holds },
    { children: paths.collectionLocks },
    { children: paths.queueLocks },
    { children: paths.pausedStages },
  ]);
  if (!answers.ok) return answers;
  const [counter, collections, queue, stages] = answers.value;
  if (counter?.kind !== "node") return { ok: false, code: "NO_NODE", detail: paths.holds };
  return {
    ok: true,
    value: {
      version: counter.node.stat.version,
      collections: new Set(names(collections)),
      queuePaused: names(queue).includes(QUEUE),
      pausedStages: new Set(names(stages)),
    },
  };
}

const QUEUE = paths.queuePause.slice(paths.queueLocks.length + 1);

/** For the multi of a move that starts work: no hold has been set or released since they were read. */
export const holdsGuard = (holds: Holds): Guard => [{ op: "check", path: paths.holds, version: holds.version }];

/** What can be held or paused; the path says where. */
export type HoldTarget =
  | { readonly kind: "collection"; readonly profile: string }
  | { readonly kind: "queue" }
  | { readonly kind: "stage"; readonly stage: Stage }
  /** Drained: it finishes what it has in hand and claims nothing more. */
  | { readonly kind: "worker"; readonly worker: string };

export function holdPath(target: HoldTarget): string {
  switch (target.kind) {
    case "collection":
      return paths.collectionHold(target.profile);
    case "queue":
      return paths.queuePause;
    case "stage":
      return paths.pausedStage(target.stage);
    case "worker":
      return paths.drain(target.worker);
  }
}

const bump = (counter: { readonly value: number; readonly version: number }): Op =>
  setOp(paths.holds, records.counter.encode(counter.value + 1), counter.version);

export const setHoldOps = (
  target: HoldTarget,
  hold: Hold,
  counter: { readonly value: number; readonly version: number },
): readonly Op[] => [bump(counter), createOp(holdPath(target), records.hold.encode(hold))];

export const releaseHoldOps = (
  target: HoldTarget,
  nodeVersion: number,
  counter: { readonly value: number; readonly version: number },
): readonly Op[] => [bump(counter), deleteOp(holdPath(target), nodeVersion)];
