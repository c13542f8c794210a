import type { ProfileStore } from "@sluice/profile-store";
import { type BatchId, type BatchStatus, parseTimestamp, placeOfBatch, type Submission } from "@sluice/queue-core";
import type { HandlerContext } from "@sluice/stage-runtime";
import { currentTrace, parseTraceparent, traced } from "@sluice/tracing";
import { composeMail } from "./compose.ts";
import type { Mail, Mailer, Sent } from "./mail.ts";
import { recipients } from "./recipients.ts";
import type { MailNumber, News } from "./report.ts";
import type { MailFacts, SentMarks } from "./sent-marks.ts";

export interface PostmanParts {
  readonly profiles: Pick<ProfileStore, "get">;
  readonly mailer: Pick<Mailer, "send">;
  readonly marks: SentMarks;
  /** Stands in the subject where it is not production. */
  readonly subjectTag: string;
  readonly onMail?: (outcome: Sent["kind"] | "nobody") => void;
}

export interface Told {
  readonly id: BatchId;
  readonly submission: Submission;
  readonly number: MailNumber;
  readonly news: News;
  /** The batch came into it at the mail's date: the same for every attempt, so that a repeated mail is the same mail. */
  readonly status: BatchStatus;
}

/** Finds out who is to be told, tells them, and says whether that is settled or must be tried again: null = settled. */
export async function tell(
  told: Told,
  ctx: HandlerContext,
  parts: PostmanParts,
): Promise<{ readonly later: string } | null> {
  const profile = parts.profiles.get(told.submission.profile_name);
  if (!profile.ok && isRecent(told, ctx)) return { later: `${profile.problem}: who is to be told is not known` };
  if (!profile.ok)
    ctx.log.error({ problem: profile.problem }, "the profile is still not there; its addresses are unknown");
  const to = recipients(told.submission, profile.ok ? profile.profile : null);
  if (to.length === 0) {
    ctx.log.info({ report: told.number }, "nobody is to be told of this report");
    parts.onMail?.("nobody");
    return null;
  }
  const place = placeOfBatch(told);
  if (await parts.marks.has({ ...told, place })) {
    ctx.log.info({ report: told.number }, "this report was sent before");
    return null;
  }
  const { id, submission, news, number } = told;
  const batch = {
    place,
    name: submission.batchID ?? id,
    profile: submission.profile_name,
    submitter: submission.submitter,
  };
  const atMs = parseTimestamp(told.status.last_modified) ?? ctx.clock.nowMs();
  const verbose = profile.ok && profile.profile.notificationType === "verbose";
  const aggregate = profile.ok ? profile.profile.aggregateType : undefined;
  const mail = composeMail({ batch, news, number, to, atMs, verbose, aggregate, tag: parts.subjectTag });
  await ctx.failpoint("beforeEffect");
  const sent = await sendTraced({ ...mail, traceparent: submission.traceparent }, parts.mailer);
  await ctx.failpoint("afterEffect");
  parts.onMail?.(sent.kind);
  const later = settled(sent, mail.name, ctx);
  if (sent.kind !== "later") {
    const detail = sent.kind === "sent" ? sent.detail : sent.why;
    await mark(told, { subject: mail.subject, to, outcome: sent.kind, detail }, ctx, parts);
  }
  return later;
}

/** A mail outside the report of a batch (one that says "queued") belongs to its submission. */
function sendTraced(mail: Mail, mailer: PostmanParts["mailer"]): Promise<Sent> {
  const parent = currentTrace() ?? parseTraceparent(mail.traceparent);
  return traced(
    { name: "send mail", kind: "producer", parent, attributes: { "sluice.mail": mail.name } },
    async (span) => {
      const sent = await mailer.send(mail);
      span.set({ "sluice.outcome": sent.kind });
      if (sent.kind !== "sent") span.failed(sent.why);
      return sent;
    },
  );
}

/** Without it the mail can only be sent once more than needed: what it tells stands. */
async function mark(told: Told, facts: MailFacts, ctx: HandlerContext, { marks }: PostmanParts): Promise<void> {
  const problem = await marks.put({ ...told, place: placeOfBatch(told) }, facts);
  if (problem !== null) ctx.log.warn({ report: told.number, problem: problem.message }, "no mark that a mail was sent");
}

/** A profile that is being replaced is back soon; one that is gone for good must not keep a batch from its verdict. */
const PROFILE_WAIT_MS = 3_600_000;

const isRecent = ({ status }: Told, { clock }: HandlerContext): boolean =>
  clock.nowMs() - (parseTimestamp(status.last_modified) ?? 0) < PROFILE_WAIT_MS;

/** A mail that will never get through does not keep a batch from its verdict: the report is in the tree as well. */
function settled(sent: Sent, name: string, ctx: HandlerContext): { readonly later: string } | null {
  switch (sent.kind) {
    case "sent":
      ctx.log.info({ mail: name, detail: sent.detail }, "report sent");
      return null;
    case "refused":
      ctx.log.error({ mail: name, why: sent.why }, "the mail server refused the report for good");
      return null;
    case "later":
      ctx.log.warn({ mail: name, why: sent.why }, "the report could not be sent yet");
      return { later: sent.why };
  }
}
