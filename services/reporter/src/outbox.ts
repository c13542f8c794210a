import { ContainedFolder } from "@sluice/safe-io";
import { createTransport } from "nodemailer";
import { type Letterhead, messageOf } from "./letterhead.ts";
import type { Mail, Mailer, Sent } from "./mail.ts";

/** Puts mails into a folder as files that every mail program opens. A report's file has its name once and for all. */
export function outboxMailer(folder: string, letterhead: Letterhead): Mailer {
  const printer = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  const print = async (mail: Mail): Promise<Buffer> => {
    const { message } = await printer.sendMail(messageOf(mail, letterhead));
    if (!Buffer.isBuffer(message)) throw new TypeError("nodemailer was asked for a buffer");
    return message;
  };
  return {
    send: (mail) => deposit(folder, `${mail.name}.eml`, () => print(mail)),
    close: () => printer.close(),
  };
}

async function deposit(folder: string, name: string, print: () => Promise<Buffer>): Promise<Sent> {
  const outbox = await ContainedFolder.open(folder);
  if (!outbox.ok) return { kind: "later", why: outbox.error.message };
  const there = await outbox.value.stat(name);
  // Sent by a reporter that died before it could say so. The file is whole: it got its name last.
  if (there.ok) return { kind: "sent", detail: `${name} was there already` };
  const written = await outbox.value.write(name, await print());
  return written.ok ? { kind: "sent", detail: name } : { kind: "later", why: written.error.message };
}
