import { type BatchId, readBatch } from "@sluice/queue-core";
import type { Sweep, SweepContext } from "@sluice/stage-runtime";
import { type PostmanParts, tell } from "../postman.ts";
import { wantsQueuedMail } from "../recipients.ts";
import { listBatches } from "./list-batches.ts";

/**
 * Tells depositors that their submission has become jobs, if their profile asks for it. A batch that is over before this
 * sweep looks gets its report only. Only its mark says that it was sent: no move of the batch does.
 */
export function queuedMailsSweep(parts: PostmanParts, everyMs: number): Sweep {
  let settled: ReadonlySet<BatchId> = new Set();
  return {
    kind: "sweep",
    name: "queued-mails",
    everyMs,
    async run(ctx) {
      const processing = await listBatches(ctx.queue.session, "Processing");
      if (processing === null) return;
      const now = new Set<BatchId>();
      for (const id of processing) {
        if (ctx.signal.aborted) return;
        if (settled.has(id) || (await settle(id, ctx, parts))) now.add(id);
      }
      settled = now;
    },
  };
}

/** False: to be looked at again. */
async function settle(id: BatchId, ctx: SweepContext, parts: PostmanParts): Promise<boolean> {
  const batch = await readBatch(ctx.queue.session, id);
  if (batch.kind !== "found") return false;
  const { submission, expansion, status } = batch.value;
  const profile = parts.profiles.get(submission.profile_name);
  if (!profile.ok) return false;
  if (!wantsQueuedMail(profile.profile)) return true;
  const news = { kind: "queued", objects: expansion?.rows ?? 0 } as const;
  const told = { id, submission, number: "queued", news, status } as const;
  return (await tell(told, { ...ctx, log: ctx.log.child({ batch_id: id }) }, parts)) === null;
}
