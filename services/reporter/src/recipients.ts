import type { Profile } from "@sluice/ingest-formats";
import type { Submission } from "@sluice/queue-core";

/** Enough to keep line ends, commas and a second address out of a mail's header. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,255}$/;

/** NotificationType asks for more mail than the report; NotificationSuppression, partial or full, forbids it. */
export const wantsQueuedMail = (profile: Profile): boolean =>
  profile.notificationType !== undefined && profile.notificationSuppression === "none";

/**
 * Who is told about a batch: those the depositor named with it, else those of the profile; nobody if the profile
 * suppresses all mail. Each address once.
 */
export function recipients(submission: Submission, profile: Profile | null): readonly string[] {
  if (profile?.notificationSuppression === "full") return [];
  const named = (submission.notification ?? "").split(/[;,\s]+/).filter((address) => ADDRESS.test(address));
  return [...new Set(named.length > 0 ? named : (profile?.notificationTo ?? []))];
}
