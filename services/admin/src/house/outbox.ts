/** The mails of an outbox: files that the reporter of a development fleet puts there instead of sending them. */
import { ContainedFolder } from "@sluice/safe-io";
import type { MailView } from "@sluice/wire";
import { readdir } from "node:fs/promises";
import PostalMime from "postal-mime";

export interface OutboxPage {
  readonly items: readonly MailView[];
  /** Go on after this one; null = that was all. */
  readonly next: string | null;
}

export interface OutboxQuery {
  /** Only mails about the batch with this folder: a mail is named after it. */
  readonly batch?: string;
  readonly after?: string | undefined;
  readonly limit: number;
}

const SUFFIX = ".eml";
/** Larger ones have lists attached that nobody reads on a page. */
const MAIL_BYTES_MAX = 20_000_000;
const TEXT_MAX = 100_000;

/** By name, the highest first: names begin with the batch's number, which grows with time. */
export async function readOutbox(folder: string, { batch, after, limit }: OutboxQuery): Promise<OutboxPage> {
  const names = (await readdir(folder).catch((): string[] => []))
    .filter((name) => name.endsWith(SUFFIX) && (batch === undefined || name.startsWith(`${batch}.`)))
    .sort()
    .reverse()
    .filter((name) => after === undefined || name < after);
  const opened = await ContainedFolder.open(folder);
  const some = names.slice(0, limit);
  const mails = opened.ok ? await Promise.all(some.map((name) => readMail(opened.value, name))) : [];
  const next = names.length > limit ? (some.at(-1) ?? null) : null;
  return { items: mails.filter((mail) => mail !== null), next };
}

/** null: it is gone, too large, or no mail. */
async function readMail(folder: ContainedFolder, name: string): Promise<MailView | null> {
  const facts = await folder.stat(name);
  if (!facts.ok || facts.value.bytes > MAIL_BYTES_MAX) return null;
  const raw = await folder.read(name);
  if (!raw.ok) return null;
  const mail = await PostalMime.parse(raw.value);
  const at = mail.date === undefined ? Number.NaN : Date.parse(mail.date);
  return {
    id: name.slice(0, -SUFFIX.length),
    subject: mail.subject ?? "",
    to: (mail.to ?? []).flatMap(({ address }) => address ?? []),
    at: new Date(Number.isNaN(at) ? facts.value.modifiedMs : at).toISOString(),
    text: (mail.text ?? "").slice(0, TEXT_MAX),
    attachments: mail.attachments.map(({ filename, content }) => ({
      name: filename ?? "",
      bytes: typeof content === "string" ? Buffer.byteLength(content) : content.byteLength,
    })),
  };
}
