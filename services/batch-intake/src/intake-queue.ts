/** The queue as the HTTP side sees it: over whatever session the process has just now, or none. */
import {
  type BatchId,
  type BatchUuid,
  type BatchView,
  createBatch,
  type CreateRequest,
  type CreateResult,
  findBatch,
  type IdBlocks,
  type JobId,
  type JobView,
  makeIdBlocks,
  type QueueContext,
  readBatch,
  readJob,
  type Viewed,
} from "@sluice/queue-core";

export interface IntakeQueue {
  /** A number for a batch that needs a folder before it is created; null = ZooKeeper does not answer. */
  reserveBatchId(): Promise<BatchId | null>;
  create(request: CreateRequest): Promise<CreateResult>;
  batchOf(uuid: BatchUuid): Promise<Viewed<BatchId>>;
  readBatch(id: BatchId): Promise<Viewed<BatchView>>;
  readJob(id: JobId): Promise<Viewed<JobView>>;
}

/** `current` answers with the queue of the present session; null while there is none. */
export function makeIntakeQueue(current: () => QueueContext | null): IntakeQueue {
  // Numbers that were reserved belong to their session: a new one reserves its own.
  const blocks = new WeakMap<QueueContext, IdBlocks>();
  const idsOf = (ctx: QueueContext): IdBlocks => {
    const known = blocks.get(ctx) ?? makeIdBlocks(ctx);
    blocks.set(ctx, known);
    return known;
  };
  const connected = (): QueueContext | null => {
    const ctx = current();
    return ctx?.session.state === "connected" ? ctx : null;
  };
  const viewed = async <T>(look: (ctx: QueueContext) => Promise<Viewed<T>>): Promise<Viewed<T>> => {
    const ctx = connected();
    return ctx === null ? { kind: "silence" } : look(ctx);
  };
  return {
    async reserveBatchId() {
      const ctx = connected();
      return ctx === null ? null : idsOf(ctx).nextBatch();
    },
    async create(request) {
      const ctx = connected();
      return ctx === null ? { kind: "lost" } : createBatch(ctx, idsOf(ctx), request);
    },
    batchOf: (uuid) =>
      viewed(async (ctx) => {
        const id = await findBatch(ctx, uuid);
        if (id !== null) return { kind: "found", value: id };
        return ctx.session.state === "connected" ? { kind: "none" } : { kind: "silence" };
      }),
    readBatch: (id) => viewed((ctx) => readBatch(ctx.session, id)),
    readJob: (id) => viewed((ctx) => readJob(ctx.session, id)),
  };
}
