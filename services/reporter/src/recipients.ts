import type { Profile } from "@sluice/ingest-formats";
import { mailRecipients } from "@sluice/profile-store";
import type { Submission } from "@sluice/queue-core";

/** NotificationType asks for more mail than the report; NotificationSuppression, partial or full, forbids it. */
export const wantsQueuedMail = (profile: Profile): boolean =>
  profile.notificationType !== undefined && profile.notificationSuppression === "none";

export const recipients = (submission: Submission, profile: Profile | null): readonly string[] =>
  mailRecipients(submission, profile);
