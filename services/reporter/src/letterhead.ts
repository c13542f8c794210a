import { createHash } from "node:crypto";
import type { SendMailOptions } from "nodemailer";
import type { Mail } from "./mail.ts";

/** What all our mails have in common. */
export interface Letterhead {
  /** `Name <address>` or an address alone. */
  readonly from: string;
  readonly replyTo: string | null;
  /** Operators who want a copy of everything. */
  readonly bcc: readonly string[];
}

/**
 * One Message-ID per batch and report, whoever sends it and however often: mailboxes and archives then show one. Its
 * right half comes from the sender's address, which is the same for all replicas, unlike their host names.
 */
export const messageId = (mail: Pick<Mail, "messageName">, { from }: Letterhead): string =>
  `<${mail.messageName}@${/@([A-Za-z0-9.-]+)/.exec(from)?.[1] ?? "localhost"}>`;

/** The same mail has the same bytes whenever it is sent. Made from all that it bounds, so that nobody can write it into a title. */
function boundary({ name, text, html, attachments }: Mail): string {
  const digest = createHash("sha256").update(JSON.stringify([name, text, html]));
  for (const { content } of attachments) digest.update(content);
  return digest.digest("hex").slice(0, 32);
}

export function messageOf(mail: Mail, letterhead: Letterhead): SendMailOptions {
  return {
    from: letterhead.from,
    to: [...mail.to],
    bcc: [...letterhead.bcc],
    ...(letterhead.replyTo === null ? {} : { replyTo: letterhead.replyTo }),
    messageId: messageId(mail, letterhead),
    baseBoundary: boundary(mail),
    date: new Date(mail.sentAtMs),
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    attachments: mail.attachments.map(({ filename, contentType, content }) => ({ filename, contentType, content })),
    headers: {
      // A report nobody asked a machine for: no vacation notes back.
      "Auto-Submitted": "auto-generated",
      ...(mail.traceparent === undefined ? {} : { traceparent: mail.traceparent }),
    },
    // Nothing in a mail is fetched from a path or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
