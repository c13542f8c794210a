/** What operators are told of a report of `fleet/fsck-report`: each set of findings once. The reporter has the mail server. */
import { noticeFindings } from "@sluice/queue-core";
import type { Log } from "@sluice/stage-runtime";
import type { FsckReport } from "@sluice/wire";
import type { Session } from "@sluice/zookeeper";

const LISTED = 50;

export interface FsckMailPorts {
  readonly session: () => Session | null;
  readonly nowMs: () => number;
  readonly log: Log;
  readonly onFindings: (count: number) => void;
}

export function fsckMail({ session, nowMs, log, onFindings }: FsckMailPorts) {
  return async ({ findings, jobs, batches }: FsckReport, file: string): Promise<void> => {
    onFindings(findings.length);
    const now = session();
    if (now === null) throw new Error("ZooKeeper cannot be reached: operators could not be told");
    const mail = {
      subject: `fsck: ${findings.length === 1 ? "1 finding" : `${findings.length} findings`}`,
      text: textOf(findings, { jobs, batches, file }),
      at: new Date(nowMs()).toISOString(),
    };
    const noticed = await noticeFindings(now, findings, mail);
    if (noticed === null) throw new Error("ZooKeeper gave no certain answer: whether operators are told is not known");
    if (noticed === "news")
      log.warn({ findings: findings.length, report: file }, "fsck finds something new: operators are mailed");
    else log.info({ findings: findings.length, report: file, noticed }, "fsck finds nothing new");
  };
}

function textOf(
  findings: FsckReport["findings"],
  { jobs, batches, file }: { readonly jobs: number; readonly batches: number; readonly file: string },
): string {
  const lines = findings.slice(0, LISTED).map(({ rule, path, what }) => `${rule}  ${path}\n    ${what}`);
  const more = findings.length > LISTED ? [`and ${findings.length - LISTED} more`] : [];
  return [
    `The job fleet/fsck-report looked at ${jobs} jobs and ${batches} batches and found:`,
    ...[...lines, ...more].map((line) => `\n${line}`),
    "",
    `The whole report is ${file} in REPORTS_DIR of the job-runner.`,
    "Run `sluice fsck` to see whether it is still so, and `sluice fsck --repair --dry-run` for what can be mended.",
    "This mail comes once for each set of findings.",
    "",
  ].join("\n");
}
