/** Mails to operators that others have ordered, such as the findings of fsck. */
import { paths, records } from "@sluice/queue-core";
import { consumed, type Inbox, snooze } from "@sluice/stage-runtime";
import type { Mail } from "./mail.ts";
import type { PostmanParts } from "./postman.ts";

export interface OperatorMailParts extends Pick<PostmanParts, "mailer" | "subjectTag" | "onMail"> {
  /** MAIL_OPERATORS. */
  readonly operators: readonly string[];
  readonly againMs?: number;
}

const AGAIN_MS = 60_000;
const HTML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** One reporter at a time: a mail is sent, then it is gone. A crash in between sends it again, under the same Message-ID. */
export const operatorMailsInbox = ({
  operators,
  mailer,
  subjectTag,
  onMail,
  againMs = AGAIN_MS,
}: OperatorMailParts): Inbox => ({
  kind: "inbox",
  name: "operator-mails",
  path: paths.operatorMails,
  exclusive: true,
  pausable: false,
  async handle({ name, data }, { log }) {
    const read = records.operatorMail.decode(data);
    if (!read.ok) {
      log.error({ mail: name, problem: read.problem }, "a mail to operators cannot be read: it is taken away");
      return consumed;
    }
    const { subject, text, at } = read.value;
    if (operators.length === 0) {
      log.warn({ mail: name, subject, text }, "nobody is to be told of this: set MAIL_OPERATORS");
      onMail?.("nobody");
      return consumed;
    }
    const mail: Mail = {
      name: `operators.${name}`,
      messageName: `operators-${name}-${Date.parse(at)}`,
      to: operators,
      subject: `${subjectTag === "" ? "" : `[${subjectTag}] `}${subject}`,
      text,
      html: `<pre>${text.replaceAll(/[&<>]/g, (sign) => HTML[sign] ?? sign)}</pre>`,
      attachments: [],
      sentAtMs: Date.parse(at),
    };
    const sent = await mailer.send(mail);
    onMail?.(sent.kind);
    if (sent.kind === "later") return snooze(againMs, sent.why);
    if (sent.kind === "sent") log.info({ mail: name, subject, detail: sent.detail }, "operators are told");
    else
      log.error({ mail: name, subject, text, why: sent.why }, "the mail server refused a mail to operators for good");
    return consumed;
  },
});
