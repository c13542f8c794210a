/** Which mails about a batch have left us, as the reporter has marked them in the batch's folder. */
import { batchFolder, type BatchPlace } from "@sluice/queue-core";
import { ContainedFolder } from "@sluice/safe-io";
import type { MailSent } from "@sluice/wire";
import { mailMarkFile, parseMailMark } from "@sluice/working-folder";

export interface MailsWish {
  readonly workingDir: string;
  readonly batch: BatchPlace;
  /** How many reports there may have been. */
  readonly reports: number;
  readonly withAddresses: boolean;
}

/** Older ones are of no interest beside the last: a batch is reported on a few times. */
const REPORTS_SHOWN = 10;

/** By their names, which are known: a batch's folder may hold thousands of others. */
export async function mailsSent({ workingDir, batch, reports, withAddresses }: MailsWish): Promise<MailSent[]> {
  const folder = await ContainedFolder.open(workingDir);
  if (!folder.ok) return [];
  const numbers = Array.from({ length: reports }, (_, i) => i + 1).slice(-REPORTS_SHOWN);
  const found = await Promise.all(
    (["queued", ...numbers] as const).map((number) => readMark(folder.value, batch, number)),
  );
  return found.filter((mail) => mail !== null).map((mail) => ({ ...mail, to: withAddresses ? mail.to : null }));
}

async function readMark(
  folder: ContainedFolder,
  batch: BatchPlace,
  number: number | "queued",
): Promise<MailSent | null> {
  const name = `${batchFolder(batch)}/${mailMarkFile(number)}`;
  const [facts, raw] = await Promise.all([folder.stat(name), folder.read(name)]);
  const mark = raw.ok ? parseMailMark(raw.value.toString("utf8")) : null;
  if (!facts.ok || mark === null) return null;
  const { subject, to, outcome, detail } = mark;
  return {
    number: String(number),
    subject,
    at: new Date(facts.value.modifiedMs).toISOString(),
    recipients: to.length,
    to: [...to],
    outcome,
    detail: detail === "" ? null : detail,
  };
}
