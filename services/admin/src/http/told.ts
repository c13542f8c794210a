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
  if (request.action === "delete") return deletionOf(job, batch, profile);
  const silence = request.action === "fail" ? whyNobodyIsTold(batch.submission, profile) : null;
  return silence === null ? null : `nobody is told that ${job.id} failed: ${silence}`;
}

export function batchWarning(request: Pick<BatchRequest, "action">, batch: BatchView): string | null {
  if (request.action !== "delete") return null;
  const reported =
    batch.report === null ? "no report of it is sent any more" : "its report has been sent, and no other follows";
  return `${batch.id} is given up for good, with all its jobs: ${reported}`;
}

/** The report lists deleted jobs, if it is still to come and somebody gets it; callbacks never tell of them. */
function deletionOf({ id }: JobView, batch: BatchView, found: ProfileLookup): string {
  const profile = found.ok ? found.profile : null;
  const nobody = mailRecipients(batch.submission, profile).length === 0;
  const report =
    batch.report === null
      ? `the report of ${batch.id} will list it as deleted${nobody ? ", and has no recipients" : ""}`
      : `${batch.id} has been reported: only an update of its report tells that it was deleted`;
  const callback = profile?.callbackUrl === undefined ? "" : "; no callback tells of it";
  return `${id} is given up for good: ${report}${callback}`;
}

/** Whether a failure is told by callback or mail, as notifier and reporter would; null: it is. */
export function whyNobodyIsTold(submission: Addressed, found: ProfileLookup): string | null {
  const profile = found.ok ? found.profile : null;
  if (profile?.callbackUrl !== undefined || mailRecipients(submission, profile).length > 0) return null;
  return profile?.notificationSuppression === "full"
    ? "its collection has no callback, and suppresses all mails"
    : "its collection has neither callback nor address for mails, and the submission named none that may be told";
}
