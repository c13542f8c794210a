import type { Profile } from "@sluice/ingest-formats";
import type { ProfileStore } from "@sluice/profile-store";
import { type Job, parseJobUuid, parseTimestamp } from "@sluice/queue-core";
import type { Egress } from "@sluice/safe-io";
import { done, fail, type JobContext, type JobStage, type Outcome, retry, snooze } from "@sluice/stage-runtime";
import { callbackAddress } from "./callback-address.ts";
import { type CallbackRequest, deliver, type Delivery, type DeliveryHook } from "./delivery.ts";
import { jobStateJson } from "./job-state.ts";

export interface NotifyParts {
  readonly profiles: Pick<ProfileStore, "get">;
  readonly egress: Pick<Egress, "post">;
  /** As the engine counts them: a profile that only wants to be warned lets its job go on after the last one. */
  readonly attemptsMax: number;
  readonly persistentUrlBase: string | null;
  readonly onDelivery?: DeliveryHook;
}

const LOOK_AGAIN_MS = 1_000;

/** Tells the depositor's system that an object is stored and recorded. */
export function notifyStage(parts: NotifyParts): JobStage {
  return {
    kind: "job-stage",
    takes: "Notify",
    handle: (job, ctx) => notify(job, ctx, parts),
  };
}

async function notify(job: Job, ctx: JobContext, parts: NotifyParts): Promise<Outcome> {
  const found = parts.profiles.get(job.configuration.profile_name);
  if (!found.ok) return retry("PROFILE_UNKNOWN", found.problem);
  const { callbackUrl } = found.profile;
  if (callbackUrl === undefined) return done();
  await ctx.failpoint("beforeEffect");
  const callback = await completedCallback(job, callbackUrl, ctx, parts);
  if (callback === "not-ours") return snooze(LOOK_AGAIN_MS, "the job is no longer ours");
  const delivery = await deliver(parts.egress, callback);
  await ctx.failpoint("afterEffect");
  parts.onDelivery?.(delivery.kind);
  if (delivery.kind === "accepted")
    ctx.log.info({ idempotency_key: callback.idempotencyKey }, "the depositor's system was called back");
  return outcomeOf(delivery, job, found.profile, parts.attemptsMax, ctx);
}

/** What is said is written down before it is first said: every repetition says the same bytes. */
async function completedCallback(
  job: Job,
  callbackUrl: string,
  ctx: JobContext,
  { persistentUrlBase }: NotifyParts,
): Promise<CallbackRequest | "not-ours"> {
  const jobName = parseJobUuid(job.configuration.jobID ?? "") ?? job.uuid;
  const endedAtMs = parseTimestamp(job.enteredAt) ?? ctx.clock.nowMs();
  const news = { jobName, outcome: "COMPLETED", message: "", endedAtMs, persistentUrlBase } as const;
  const key = `${jobName}.COMPLETED.${job.retryCount}`;
  const kept = job.callbackBody?.key === key ? job.callbackBody : null;
  const { body } = kept ?? { body: jobStateJson(job, news) };
  if (kept === null && !(await ctx.record({ callbackBody: { key, body } }))) return "not-ours";
  return { ...callbackAddress(callbackUrl, jobName), idempotencyKey: key, body, signal: ctx.signal };
}

function outcomeOf(
  delivery: Delivery,
  job: Job,
  profile: Profile,
  attemptsMax: number,
  ctx: Pick<JobContext, "log">,
): Outcome {
  if (delivery.kind === "accepted") return done();
  const isLast = delivery.kind === "refused" || job.attempt >= attemptsMax;
  if (isLast && profile.callbackFailure === "warn") {
    ctx.log.warn({ why: delivery.why }, "callback not delivered; the profile lets the job go on");
    return done({ message: `not called back: ${delivery.why}` });
  }
  return delivery.kind === "refused"
    ? fail("CALLBACK_FAILED", delivery.why)
    : retry("CALLBACK_FAILED", delivery.why, delivery.delayMs);
}
