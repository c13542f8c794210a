import { createTransport } from "nodemailer";
import { type Letterhead, messageOf } from "./letterhead.ts";
import type { Mailer, Sent } from "./mail.ts";

const CONNECT_MS = 10_000;
const SILENCE_MS = 60_000;

/**
 * Hands mails to a mail server. Its URL may carry a password: it is never shown. Whoever sits between must not be able to take the
 * server's STARTTLS away and read along: without TLS nothing is said. The URL's own options come last: `?requireTLS=false` allows it.
 */
export function smtpMailer(url: string, letterhead: Letterhead): Mailer {
  const transport = createTransport({
    url,
    requireTLS: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  });
  return {
    async send(mail) {
      try {
        const { accepted, rejected, response } = await transport.sendMail(messageOf(mail, letterhead));
        const missed =
          rejected.length === 0 ? "" : `, refused for ${rejected.length} of ${rejected.length + accepted.length}`;
        return { kind: "sent", detail: `${response}${missed}` };
      } catch (error) {
        return judge(error);
      }
    },
    close: () => transport.close(),
  };
}

/** nodemailer's codes for "the server took neither envelope nor message". */
const ABOUT_THIS_MAIL: ReadonlySet<unknown> = new Set(["EENVELOPE", "EMESSAGE"]);

/** A 5xx about this mail is final. All else (no server, wrong password, 4xx) is mended by operators, in time. */
function judge(error: unknown): Sent {
  const why = error instanceof Error ? error.message : String(error);
  if (typeof error !== "object" || error === null) return { kind: "later", why };
  const code = "code" in error ? error.code : null;
  const response = "responseCode" in error && typeof error.responseCode === "number" ? error.responseCode : 0;
  return ABOUT_THIS_MAIL.has(code) && response >= 500 ? { kind: "refused", why } : { kind: "later", why };
}
