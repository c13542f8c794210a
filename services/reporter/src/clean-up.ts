/** One batch that is over: all that is known of it into the archive, folder into the recycle area, nodes away, folder away. Each step can be repeated. */
import {
  type BatchId,
  type BatchPlace,
  type BatchUuid,
  cleanUpBatch,
  formatTimestamp,
  paths,
  type QueueContext,
} from "@sluice/queue-core";
import type { HandlerContext } from "@sluice/stage-runtime";
import { type Archive, archiveBatch } from "./archive.ts";

/** Where the folders of batches go before they go for good. */
export interface RecycleArea {
  /** Moves the batch's folder here, in one step; its record goes first. */
  readonly take: (batch: BatchPlace, uuid: BatchUuid | null) => Promise<void>;
  readonly remove: (batch: BatchPlace) => Promise<void>;
  readonly list: () => Promise<readonly BatchPlace[]>;
}

export interface CleanUpParts {
  readonly archive: Archive;
  readonly recycled: RecycleArea;
}

export type CleanedUp =
  | { readonly kind: "cleaned" }
  /** Another reporter was faster, or an order and the sweep met. */
  | { readonly kind: "gone" }
  | { readonly kind: "not-archived" | "not-yet"; readonly why: string };

export async function cleanUp(
  id: BatchId,
  { archive, recycled }: CleanUpParts,
  ctx: HandlerContext & { readonly queue: QueueContext },
): Promise<CleanedUp> {
  const archived = await archiveBatch(ctx.queue, id, archive, formatTimestamp(ctx.clock.nowMs()));
  await ctx.failpoint("afterArchive");
  if (archived.kind === "gone") return archived;
  if (archived.kind !== "archived") {
    ctx.log.warn({ batch_id: id, why: archived.message }, "not archived, so not cleaned up yet");
    return { kind: "not-archived", why: archived.message };
  }
  await recycled.take(archived.place, archived.uuid);
  await ctx.failpoint("afterRecycle");
  const result = await cleanUpBatch(ctx.queue, id);
  await ctx.failpoint("afterCleanUp");
  if (result.kind !== "cleaned") {
    const batch = await ctx.queue.session.exists(paths.batch(id));
    if (batch.ok && batch.value === null) return { kind: "gone" };
    ctx.log.warn({ batch_id: id, result }, "not cleaned up yet");
    return { kind: "not-yet", why: result.kind === "not-yet" ? result.why : "no answer" };
  }
  await recycled.remove(archived.place);
  ctx.log.info({ batch_id: id, jobs: result.jobs }, "cleaned up");
  return { kind: "cleaned" };
}
