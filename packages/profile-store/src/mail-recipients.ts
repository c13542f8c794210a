import type { Profile } from "@sluice/ingest-formats";

/** Enough to keep line ends, commas and a second address out of a mail's header. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,255}$/;

type MailRules = Pick<Profile, "notificationTo" | "notificationAllow">;

/** What a submission says about who is to be told. */
export interface Addressed {
  readonly notification?: string | undefined;
  /** The caller's name as it was proved, not the submitter that the request names: anybody can name anybody there. */
  readonly submitted_by?: unknown;
}

/**
 * Who is told about a batch: those the depositor named with it, as far as the profile lets them be told, else those of the profile;
 * nobody if the profile suppresses all mail. Each address once.
 */
export function mailRecipients(
  { notification = "", submitted_by }: Addressed,
  profile: (MailRules & Pick<Profile, "notificationSuppression">) | null,
): readonly string[] {
  if (profile?.notificationSuppression === "full") return [];
  const named = notification
    .split(/[;,\s]+/)
    .filter((address) => ADDRESS.test(address) && mayBeTold(address, submitted_by, profile));
  return [...new Set(named.length > 0 ? named : (profile?.notificationTo ?? []))];
}

/**
 * Reports carry titles, identifiers and errors of a collection, in our name: whoever may deposit must not have them sent to just
 * anybody. The profile's addresses, the depositor's own, and those that the profile allows besides.
 */
export function mayBeTold(address: string, depositor: unknown, profile: MailRules | null): boolean {
  const wanted = address.toLowerCase();
  const known = [...(profile?.notificationTo ?? []), ...(typeof depositor === "string" ? [depositor] : [])];
  if (known.some((one) => one.toLowerCase() === wanted)) return true;
  return (profile?.notificationAllow ?? []).some((rule) => allows(rule.toLowerCase(), wanted));
}

const allows = (rule: string, address: string): boolean =>
  rule === "*" || rule === address || (rule.startsWith("@") && address.endsWith(rule));
