/** The queue as submissions see it: over whatever session the process has just now, or none. */
import {
  type BatchId,
  createBatch,
  type CreateRequest,
  type CreateResult,
  type IdBlocks,
  makeIdBlocks,
  type QueueContext,
} from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";

export interface IntakeQueue {
  /** Which tree it is; null while there is no session. */
  fleet(): string | null;
  /** A number for a batch that needs a folder before it is created; null = ZooKeeper does not answer. */
  reserveBatchId(): Promise<BatchId | null>;
  create(request: CreateRequest): Promise<CreateResult>;
}

/** `current` answers with the queue of the present session; null while there is none. */
export function makeIntakeQueue(current: () => OpenQueue | null): IntakeQueue {
  // Numbers that were reserved belong to their session: a new one reserves its own.
  const blocks = new WeakMap<QueueContext, IdBlocks>();
  const idsOf = (ctx: QueueContext): IdBlocks => {
    const known = blocks.get(ctx) ?? makeIdBlocks(ctx);
    blocks.set(ctx, known);
    return known;
  };
  const connected = (): QueueContext | null => {
    const ctx = current()?.context;
    return ctx?.session.state === "connected" ? ctx : null;
  };
  return {
    fleet: () => current()?.fleetId ?? null,
    async reserveBatchId() {
      const ctx = connected();
      return ctx === null ? null : idsOf(ctx).nextBatch();
    },
    async create(request) {
      const ctx = connected();
      return ctx === null ? { kind: "lost" } : createBatch(ctx, idsOf(ctx), request);
    },
  };
}
