/** Who hears of a change and who does not: what an operator must have read before it is made. Pure. */
import type { BatchView, JobView } from "@sluice/queue-core";
import type { ProfileLookup } from "@sluice/profile-store";
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
  if (request.action === "fail" && !isTold(batch, profile)) {
    return `nobody is told that ${job.id} failed: its collection has neither callback nor address for mails, and the submission named none`;
  }
  return null;
}

export function batchWarning(request: Pick<BatchRequest, "action">, batch: BatchView): string | null {
  if (request.action !== "delete") return null;
  const submitter = batch.submission.submitter === "" ? "its depositor" : batch.submission.submitter;
  return `${submitter} gets no report of ${batch.id}: neither its end nor that of its jobs is told`;
}

function isTold({ submission }: BatchView, profile: ProfileLookup): boolean {
  if (submission.notification !== undefined && submission.notification !== "") return true;
  return profile.ok && (profile.profile.callbackUrl !== undefined || profile.profile.notificationTo.length > 0);
}
