import type { Profile } from "@sluice/ingest-formats";

/** Enough to keep line ends, commas and a second address out of a mail's header. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,255}$/;

/**
 * Who is told about a batch: those the depositor named with it, else those of the profile; nobody if the profile
 * suppresses all mail. Each address once.
 */
export function mailRecipients(
  named: string | undefined,
  profile: Pick<Profile, "notificationSuppression" | "notificationTo"> | null,
): readonly string[] {
  if (profile?.notificationSuppression === "full") return [];
  const valid = (named ?? "").split(/[;,\s]+/).filter((address) => ADDRESS.test(address));
  return [...new Set(valid.length > 0 ? valid : (profile?.notificationTo ?? []))];
}
