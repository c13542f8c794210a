import type { ProfileStore } from "@sluice/profile-store";
import {
  type CallbackEnd,
  type CallbackRecord,
  type JobId,
  parseJobId,
  parseJobUuid,
  parseTimestamp,
  paths,
  type QueueContext,
  records,
  type Viewed,
} from "@sluice/queue-core";
import type { Egress } from "@sluice/safe-io";
import {
  consumed,
  type Inbox,
  type InboxContext,
  type InboxItem,
  type InboxOutcome,
  retry,
  snooze,
} from "@sluice/stage-runtime";
import { parseTraceparent, traced } from "@sluice/tracing";
import type { Op } from "@sluice/zookeeper";
import { callbackAddress } from "./callback-address.ts";
import { type CallbackRequest, deliver, type Delivery, type DeliveryHook } from "./delivery.ts";
import { type CallbackSubject, jobStateJson } from "./job-state.ts";

export interface FailedInboxParts {
  readonly profiles: Pick<ProfileStore, "get">;
  readonly egress: Pick<Egress, "post">;
  /** The failed job as the tree has it. */
  readonly readSubject: (queue: QueueContext, id: JobId) => Promise<Viewed<CallbackSubject>>;
  /** What is left behind of a callback that is over. */
  readonly note: (queue: QueueContext, id: JobId, record: CallbackRecord, end: CallbackEnd) => Promise<readonly Op[]>;
  /** How long a receiver that is away is tried, counted from the failure: in the tree, so that a restart forgets nothing. */
  readonly giveUpAfterMs: number;
  readonly persistentUrlBase: string | null;
  readonly onDelivery?: DeliveryHook;
}

const LOOK_AGAIN_MS = 1_000;
const STORED = "the object is stored: its failure is not told, its completion is once the job is resumed";

/** Tells the depositor's system about jobs that failed; the failing move left the news in /fleet/callbacks. */
export function failedInbox(parts: FailedInboxParts): Inbox {
  return {
    kind: "inbox",
    name: "callbacks",
    path: paths.callbacks,
    exclusive: true,
    handle: (item, ctx) => handle(item, ctx, parts),
  };
}

async function handle(item: InboxItem, ctx: InboxContext, parts: FailedInboxParts): Promise<InboxOutcome> {
  const record = records.callback.decode(item.data);
  const id = record.ok ? parseJobId(record.value.job) : null;
  if (!record.ok || id === null) {
    ctx.log.error({ problem: record.ok ? "no job id" : record.problem }, "callback dropped: not readable");
    return consumed;
  }
  const subject = await parts.readSubject(ctx.queue, id);
  switch (subject.kind) {
    case "silence":
      return snooze(LOOK_AGAIN_MS, "no answer");
    case "none":
      return consumed;
    case "broken":
      return settle({ kind: "refused", why: subject.problem }, id, record.value, ctx, parts);
    case "found":
      return await tell(id, record.value, subject.value, ctx, parts);
  }
}

async function tell(
  id: JobId,
  record: CallbackRecord,
  subject: CallbackSubject,
  ctx: InboxContext,
  parts: FailedInboxParts,
): Promise<InboxOutcome> {
  const found = parts.profiles.get(subject.configuration.profile_name);
  if (!found.ok) return settle({ kind: "later", why: found.problem }, id, record, ctx, parts);
  const { callbackUrl } = found.profile;
  if (callbackUrl === undefined) return consumed;
  // A receiver that hears FAILED takes the object for lost, and submits it again.
  if (subject.inventory !== null) return told(id, record, STORED, ctx, parts);
  const written = await writtenDown(id, record, subject, ctx, parts);
  if (written === null) return snooze(LOOK_AGAIN_MS, "it was changed, or could not be written");
  await ctx.failpoint("beforeEffect");
  const callback = failedCallback(id, written, subject, callbackUrl, ctx);
  const parent = parseTraceparent(subject.configuration.traceparent);
  const delivery = await traced({ name: "tell of a failed job", kind: "producer", parent }, () =>
    deliver(parts.egress, callback),
  );
  await ctx.failpoint("afterEffect");
  parts.onDelivery?.(delivery.kind);
  return settle(delivery, id, record, ctx, parts);
}

type Told = CallbackRecord & { readonly body: string };

const nameOf = (id: JobId, { configuration }: CallbackSubject): string => parseJobUuid(configuration.jobID ?? "") ?? id;

/**
 * The news with its body. That is written into the item before it is first said, because the job may be resumed,
 * described anew and moved in the queue between two attempts, and one key must not have two bodies. null = not written.
 */
async function writtenDown(
  id: JobId,
  record: CallbackRecord,
  subject: CallbackSubject,
  ctx: InboxContext,
  { persistentUrlBase }: FailedInboxParts,
): Promise<Told | null> {
  if (record.body !== undefined) return { ...record, body: record.body };
  const endedAtMs = parseTimestamp(record.at) ?? ctx.clock.nowMs();
  const news = { jobName: nameOf(id, subject), outcome: "FAILED", message: record.message, endedAtMs } as const;
  const told: Told = { ...record, body: jobStateJson(subject, { ...news, persistentUrlBase }) };
  return (await ctx.rewrite(records.callback.encode(told))) ? told : null;
}

function failedCallback(
  id: JobId,
  { retry: failure, body }: Told,
  subject: CallbackSubject,
  callbackUrl: string,
  { signal }: InboxContext,
): CallbackRequest {
  const jobName = nameOf(id, subject);
  // Not by its number: another history of the tree may have given the same one to another job.
  const idempotencyKey = `${jobName}.FAILED.${failure}`;
  return { ...callbackAddress(callbackUrl, jobName), idempotencyKey, body, signal };
}

/** The job has failed already: nothing worse can come of a callback that is not taken than a note and a line in the log. */
function settle(
  delivery: Delivery,
  id: JobId,
  record: CallbackRecord,
  ctx: InboxContext,
  parts: FailedInboxParts,
): InboxOutcome {
  if (delivery.kind === "accepted") {
    ctx.log.info({ failure: record.retry }, "the depositor's system was called back: its job has failed");
    return told(id, record, "", ctx, parts);
  }
  const failedAtMs = parseTimestamp(record.at) ?? 0;
  if (delivery.kind === "later" && ctx.clock.nowMs() - failedAtMs < parts.giveUpAfterMs)
    return retry("CALLBACK_FAILED", delivery.why, delivery.delayMs);
  ctx.log.warn({ why: delivery.why }, "the callback of a failed job was given up");
  return told(id, record, delivery.why, ctx, parts);
}

/** Whoever looks at the job sees what became of it; the item and its lock are gone with the same move. */
const told = (
  id: JobId,
  record: CallbackRecord,
  notDelivered: string,
  { queue, clock }: InboxContext,
  { note }: FailedInboxParts,
): InboxOutcome => ({
  kind: "consumed",
  leaving: () => note(queue, id, record, { atMs: clock.nowMs(), notDelivered }),
});
