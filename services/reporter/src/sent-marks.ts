import { batchFolder, type BatchPlace } from "@sluice/queue-core";
import { ContainedFolder, type IoFault } from "@sluice/safe-io";
import { type MailMark, mailMarkFile, parseMailMark, printMailMark } from "@sluice/working-folder";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { MailNumber, News } from "./report.ts";

export interface MarkedMail {
  readonly place: BatchPlace;
  readonly number: MailNumber;
  readonly news: News;
}

/**
 * Which mails have left us. The queue learns of a mail only with the batch's next move, which can be far away: a long
 * report to write, a session to win back. A mark is one file, made as soon as the mail server has said yes.
 */
export interface SentMarks {
  readonly has: (mail: MarkedMail) => Promise<boolean>;
  /** Null, or why there is no mark now. */
  readonly put: (mail: MarkedMail, facts: MailFacts) => Promise<IoFault | null>;
}

/** For operators, who are shown what was sent to whom. */
export type MailFacts = Omit<MailMark, "digest">;

/** Reports are counted anew after the tree was restored: another report under the same number is another mail. */
const digestOf = ({ news }: MarkedMail): string => createHash("sha256").update(JSON.stringify(news)).digest("hex");

/** Files in the batch's folder: there as long as the batch is, and gone with it. */
export function sentMarks(workingDir: string): SentMarks {
  const folderOf = (place: BatchPlace) => ContainedFolder.open(join(workingDir, batchFolder(place)));
  return {
    has: async (mail) => {
      const folder = await folderOf(mail.place);
      const mark = folder.ok ? await folder.value.read(mailMarkFile(mail.number)) : folder;
      return mark.ok && parseMailMark(mark.value.toString("utf8"))?.digest === digestOf(mail);
    },
    put: async (mail, facts) => {
      const folder = await folderOf(mail.place);
      const mark = printMailMark({ ...facts, digest: digestOf(mail) });
      const written = folder.ok ? await folder.value.write(mailMarkFile(mail.number), mark) : folder;
      return written.ok ? null : written.error;
    },
  };
}
