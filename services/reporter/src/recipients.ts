import type { Profile } from "@sluice/ingest-formats";
import { mailRecipients } from "@sluice/profile-store";
import type { Submission } from "@sluice/queue-core";

/** On Merritt's terms: everybody gets it but for `NotificationSuppression`, `NotificationType: verbose`, or handlers without it. */
export const wantsQueuedMail = ({ notificationSuppression, notificationType, announcesQueued }: Profile): boolean =>
  notificationSuppression === "none" && notificationType !== "verbose" && announcesQueued;

export const recipients = (submission: Submission, profile: Profile | null): readonly string[] =>
  mailRecipients(submission, profile);
