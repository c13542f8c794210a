/** Who hears of a change and who does not: what an operator must have read before it is made. Pure. */
import type { BatchView, JobView } from "@sluice/queue-core";
import { type Addressed, mailRecipients, type ProfileLookup } from "@sluice/profile-store";
import type { BatchRequest, JobRequest } from "@sluice/wire";

/** null: nothing has to be confirmed. */
export function jobWarning(
  request: Pick<JobRequest, "action">,
  job: JobView,
  batch: BatchView,
  profile: ProfileLookup,
): string | null {
  const submitter = job.configuration.submitter === "" ? "its depositor" : job.configuration.submitter;
  if (request.action === "delete") {
    return `a deleted job is in no report: ${submitter} will not be told what became of it`;
  }
  const silence = request.action === "fail" ? whyNobodyIsTold(batch.submission, profile) : null;
  return silence === null ? null : `nobody is told that ${job.id} failed: ${silence}`;
}

export function batchWarning(request: Pick<BatchRequest, "action">, batch: BatchView): string | null {
  if (request.action !== "delete") return null;
  const submitter = batch.submission.submitter === "" ? "its depositor" : batch.submission.submitter;
  return `${submitter} gets no report of ${batch.id}: neither its end nor that of its jobs is told`;
}

/** Whether a failure is told by callback or mail, as notifier and reporter would; null: it is. */
export function whyNobodyIsTold(submission: Addressed, found: ProfileLookup): string | null {
  const profile = found.ok ? found.profile : null;
  if (profile?.callbackUrl !== undefined || mailRecipients(submission, profile).length > 0) return null;
  return profile?.notificationSuppression === "full"
    ? "its collection has no callback, and suppresses all mails"
    : "its collection has neither callback nor address for mails, and the submission named none that may be told";
}
