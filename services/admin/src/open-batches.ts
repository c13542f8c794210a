/** Batches on their way: how long they have been in their state, and who has them in hand. */
import { type BatchId, type BatchState, parseBatchId, paths, records } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import { earliest, listEntries } from "./entries.ts";

/** In the other states a batch rests until somebody acts, or for good. */
export const OPEN_BATCH_STATES = [
  "Pending",
  "Held",
  "Processing",
  "Reporting",
  "UpdateReporting",
] as const satisfies readonly BatchState[];

type OpenState = (typeof OPEN_BATCH_STATES)[number];

export interface BatchInHand {
  readonly batch: BatchId;
  readonly stage: string;
  readonly sinceMs: number;
}

export interface OpenBatches {
  /**
   * Since when the oldest of each state has been in it; null when there is none. Not since its submission: one that was Failed
   * for days and is tried again is young again.
   */
  readonly oldestAtMs: Readonly<Record<OpenState, number | null>>;
  readonly inHand: readonly BatchInHand[];
}

interface Seen {
  readonly state: OpenState;
  readonly batch: BatchId;
}

/** Null = no answer. */
export async function readOpenBatches(
  session: Session,
  counts: Readonly<Record<BatchState, number>>,
): Promise<OpenBatches | null> {
  const seen: Seen[] = [];
  for (const state of OPEN_BATCH_STATES.filter((each) => counts[each] > 0)) {
    const entries = await listEntries(session, paths.fleetBatchQueue(state));
    if (entries === null) return null;
    for (const name of entries.first) {
      const batch = parseBatchId(name);
      if (batch !== null) seen.push({ state, batch });
    }
  }
  if (seen.length === 0) return summary([]);
  // Its entry is made anew whenever a batch changes its state.
  const nodes = seen.flatMap(({ state, batch }) => [paths.fleetBatch(state, batch), paths.batchLock(batch)]);
  const answers = await session.readMany(nodes.map((get) => ({ get })));
  if (!answers.ok) return null;
  const nodeAt = (at: number) => {
    const answer = answers.value[at];
    return answer?.kind === "node" ? answer.node : null;
  };
  return summary(
    seen.map((each, i) => {
      const lock = nodeAt(2 * i + 1);
      const holder = lock === null ? null : records.lock.decode(lock.data);
      return {
        state: each.state,
        atMs: nodeAt(2 * i)?.stat.ctime ?? null,
        inHand:
          lock === null || holder?.ok !== true
            ? null
            : { batch: each.batch, stage: holder.value.stage, sinceMs: lock.stat.ctime },
      };
    }),
  );
}

interface Looked {
  readonly state: OpenState;
  readonly atMs: number | null;
  readonly inHand: BatchInHand | null;
}

const summary = (looked: readonly Looked[]): OpenBatches => ({
  oldestAtMs: Object.fromEntries(
    OPEN_BATCH_STATES.map((state) => [
      state,
      earliest(looked.flatMap((each) => (each.state === state ? [each.atMs] : []))),
    ]),
  ) as OpenBatches["oldestAtMs"],
  inHand: looked.flatMap((each) => each.inHand ?? []),
});
