import { parseBatchId, paths } from "@sluice/queue-core";
import { consumed, type Inbox, snooze } from "@sluice/stage-runtime";
import { cleanUp, type CleanUpParts } from "./clean-up.ts";

/** Its jobs may still be on their way out, or the archive away. */
const LOOK_AGAIN_MS = 5_000;

/** Batches that operators want cleaned up before their time. One reporter at a time: folders are moved. */
export const cleanUpInbox = (parts: CleanUpParts): Inbox => ({
  kind: "inbox",
  name: "ordered-clean-ups",
  path: paths.cleanUps,
  exclusive: true,
  pausable: false,
  async handle(item, ctx) {
    const id = parseBatchId(item.name);
    if (id === null) return consumed;
    const batch = await ctx.queue.session.exists(paths.batch(id));
    if (batch.ok && batch.value === null) return consumed;
    const result = await cleanUp(id, parts, ctx);
    return "why" in result ? snooze(LOOK_AGAIN_MS, result.why) : consumed;
  },
});
