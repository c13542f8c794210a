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
import { parseTimestamp } from "./timestamp.ts";

export interface Holds {
  /** Version of /fleet/holds, read before everything else here. */
  readonly version: number;
  readonly collections: ReadonlySet<string>;
  /** Of those that have an end: when it is, as their holds say. */
  readonly heldUntil: ReadonlyMap<string, string>;
  readonly queuePaused: boolean;
  readonly pausedStages: ReadonlySet<string>;
}

/** null: the directory is not there. */
const namesIn = (answer: ReadAnswer | undefined): readonly string[] | null =>
  answer?.kind === "children" ? answer.names : null;

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
  const [held, paused, pausedStages] = [namesIn(collections), namesIn(queue), namesIn(stages)];
  if (held === null || paused === null || pausedStages === null) {
    return { ok: false, code: "SERVER_ERROR", detail: "the holds and pauses could not be listed" };
  }
  const heldUntil = await readEnds(session, held);
  if (!heldUntil.ok) return heldUntil;
  return {
    ok: true,
    value: {
      version: counter.node.stat.version,
      collections: new Set(held),
      heldUntil: heldUntil.value,
      queuePaused: paused.includes(QUEUE),
      pausedStages: new Set(pausedStages),
    },
  };
}

/** Read after the names: one that is gone by now has changed the counter, and refuses what relies on it. */
async function readEnds(session: Session, held: readonly string[]): Promise<Answer<ReadonlyMap<string, string>>> {
  if (held.length === 0) return { ok: true, value: new Map() };
  const answers = await session.readMany(held.map((profile) => ({ get: paths.collectionHold(profile) })));
  if (!answers.ok) return answers;
  const ends = answers.value.flatMap((answer, i) => {
    const hold = answer.kind === "node" ? records.hold.decode(answer.node.data) : null;
    return hold?.ok === true && hold.value.until !== undefined ? [[held[i] ?? "", hold.value.until] as const] : [];
  });
  return { ok: true, value: new Map(ends) };
}

/** Why a job or batch of a held collection is parked, in words that `parkedUntil` can read. */
export function parkReason({ heldUntil }: Pick<Holds, "heldUntil">, profile: string): string {
  const until = heldUntil.get(profile);
  return `collection ${profile} is held${until === undefined ? "" : ` until ${until}`}`;
}

const PARKED_UNTIL = /^collection \S+ is held until (.+)$/;

/** When the hold was to end by itself that this message is about; null = an operator has to release it. */
export const parkedUntil = (message: string): number | null => parseTimestamp(PARKED_UNTIL.exec(message)?.[1] ?? "");

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
