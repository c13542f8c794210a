import { type BatchId, parseBatchId, paths, readBatch } from "@sluice/queue-core";
import { consumed, type Inbox, type InboxContext, type InboxOutcome, snooze } from "@sluice/stage-runtime";
import { type PostmanParts, tell } from "./postman.ts";
import { wantsQueuedMail } from "./recipients.ts";

const LOOK_AGAIN_MS = 1_000;
const MAIL_AGAIN_MS = 30_000;

/**
 * Tells depositors that their submission is being ingested. The notice is made in the transaction that starts the batch, and
 * the batch's report waits until it is gone. One reporter at a time has it: the mail is sent once.
 */
export const queuedMailsInbox = (parts: PostmanParts): Inbox => ({
  kind: "inbox",
  name: "queued-mails",
  path: paths.queuedMails,
  exclusive: true,
  handle: async (item, ctx) => {
    const id = parseBatchId(item.name);
    return id === null ? consumed : await settle(id, ctx, parts);
  },
});

async function settle(id: BatchId, ctx: InboxContext, parts: PostmanParts): Promise<InboxOutcome> {
  const batch = await readBatch(ctx.queue.session, id);
  if (batch.kind === "silence") return snooze(LOOK_AGAIN_MS, "no answer");
  // Gone, or unreadable, or deleted: no report waits for it.
  if (batch.kind !== "found" || batch.value.status.status === "Deleted") return consumed;
  const { submission, expansion, status } = batch.value;
  const profile = parts.profiles.get(submission.profile_name);
  if (profile.ok && !wantsQueuedMail(profile.profile)) return consumed;
  const news = { kind: "queued", objects: expansion?.rows ?? 0 } as const;
  const waits = await tell({ id, submission, number: "queued", news, status }, ctx, parts);
  return waits === null ? consumed : snooze(MAIL_AGAIN_MS, waits.later);
}
