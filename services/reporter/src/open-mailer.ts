import type { Letterhead } from "./letterhead.ts";
import type { Mailer } from "./mail.ts";
import { outboxMailer } from "./outbox.ts";
import { smtpMailer } from "./smtp.ts";

const OUTBOX = "outbox:";

/** What is wrong with a MAIL_URL; null if nothing is. */
export function mailUrlProblem(url: string): string | null {
  if (url.startsWith(OUTBOX)) return url.length > OUTBOX.length ? null : "names no folder";
  const known =
    URL.canParse(url) && ["smtp:", "smtps:"].includes(new URL(url).protocol) && new URL(url).hostname !== "";
  return known ? null : "must be outbox:FOLDER, smtp://host:port or smtps://host:port";
}

/** The part is chosen by its URL. */
export const openMailer = (url: string, letterhead: Letterhead): Mailer =>
  url.startsWith(OUTBOX) ? outboxMailer(url.slice(OUTBOX.length), letterhead) : smtpMailer(url, letterhead);
