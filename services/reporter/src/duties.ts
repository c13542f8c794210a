import { type Batch, paths, type QueueContext, readReport, type StatusReport } from "@sluice/queue-core";
import type { Duty } from "@sluice/stage-runtime";
import type { AuditArchive } from "@sluice/inventory";
import { anchorKeyIn } from "./audit/anchor-key.ts";
import { readBatchLists } from "./batch-lists.ts";
import type { Archive } from "./archive.ts";
import type { ReporterConfig } from "./config.ts";
import { dueInbox } from "./due-inbox.ts";
import type { PostmanParts } from "./postman.ts";
import { sentMarks } from "./sent-marks.ts";
import { operatorMailsInbox } from "./operator-mails.ts";
import { queuedMailsInbox } from "./queued-mails.ts";
import { recycleArea } from "./recycle.ts";
import { type ReportTree, reportStage } from "./report-stage.ts";
import { makeCleaner, type OnCleaner } from "./cleaner.ts";
import { cleanUpInbox } from "./clean-up-inbox.ts";
import { besideSweep, type OnBeside } from "./sweeps/beside.ts";
import { auditSweep, type OnShortened } from "./sweeps/audit.ts";
import { cleanUpSweep } from "./sweeps/clean-up.ts";
import { deletedBatchesSweep } from "./sweeps/deleted-batches.ts";
import { dueBackstop } from "./sweeps/due-backstop.ts";
import { endedHoldsSweep, type EndedHoldsParts } from "./sweeps/ended-holds.ts";
import { expiredTokensSweep } from "./sweeps/expired-tokens.ts";
import { endedJobsSweep, type JobFolders } from "./sweeps/ended-jobs.ts";
import { unexpandedSweep } from "./sweeps/unexpanded.ts";

export interface DutyParts {
  readonly postman: Omit<PostmanParts, "marks">;
  readonly holds?: EndedHoldsParts;
  readonly folders: JobFolders;
  readonly archive: Archive & AuditArchive;
  /** The queue in the present session; null while there is none. */
  readonly queue: () => QueueContext | null;
  /** Told with every look who cleans up. */
  readonly onCleaner?: OnCleaner;
  readonly onShortened?: OnShortened;
  readonly onBeside?: OnBeside;
}

export type ReporterSettings = Pick<
  ReporterConfig,
  | "WORKING_DIR"
  | "RETENTION_DAYS"
  | "SWEEP_INTERVAL_MS"
  | "CLEAN_UP_INTERVAL_MS"
  | "MAIL_OPERATORS"
  | "AUDIT_RETENTION_DAYS"
  | "AUDIT_KEY_FILE"
  | "AUDIT_LOST_UP_TO"
  | "AUDIT_INTERVAL_MS"
>;

/** Looking for what was forgotten may take its time: what is not forgotten is told at once. */
const BACKSTOP_FACTOR = 6;
const DAY_MS = 86_400_000;

export function reporterDuties(
  config: ReporterSettings,
  { folders, archive, queue, ...parts }: DutyParts,
): readonly Duty[] {
  const everyMs = config.SWEEP_INTERVAL_MS;
  const postman = { ...parts.postman, marks: sentMarks(config.WORKING_DIR) };
  const reporting = { ...postman, tree: reportTree(queue) };
  const cleaning = { archive, recycled: recycleArea(config.WORKING_DIR) };
  return [
    dueInbox,
    reportStage("Reporting", reporting),
    reportStage("UpdateReporting", reporting),
    endedJobsSweep("Completed", folders, everyMs),
    endedJobsSweep("Deleted", folders, everyMs),
    deletedBatchesSweep(everyMs),
    unexpandedSweep(postman, everyMs),
    queuedMailsInbox(postman),
    endedHoldsSweep(parts.holds ?? {}, everyMs),
    dueBackstop(everyMs * BACKSTOP_FACTOR),
    besideSweep(everyMs * BACKSTOP_FACTOR, parts.onBeside),
    cleanUpInbox(cleaning),
    operatorMailsInbox({ ...parts.postman, operators: config.MAIL_OPERATORS }),
    cleanUpSweep(cleaning, makeCleaner(parts.onCleaner), {
      everyMs: config.CLEAN_UP_INTERVAL_MS,
      retentionMs: config.RETENTION_DAYS * DAY_MS,
    }),
    expiredTokensSweep(config.CLEAN_UP_INTERVAL_MS),
    auditSweep(
      {
        archive,
        key: anchorKeyIn(config.AUDIT_KEY_FILE),
        retentionMs: config.AUDIT_RETENTION_DAYS * DAY_MS,
        lostUpTo: config.AUDIT_LOST_UP_TO,
        ...(parts.onShortened === undefined ? {} : { onShortened: parts.onShortened }),
      },
      config.AUDIT_INTERVAL_MS,
    ),
  ];
}

function reportTree(queue: () => QueueContext | null): ReportTree {
  return {
    lists: async ({ id }: Batch) => {
      const now = queue();
      return now === null ? null : await readBatchLists(now.session, id);
    },
    previous: async ({ id }: Batch, report: StatusReport) => {
      const now = queue();
      return now === null ? null : await readReport(now, id, report);
    },
    isAnnounced: async ({ id }: Batch) => {
      const notice = await queue()?.session.exists(paths.queuedMail(id));
      return notice?.ok === true && notice.value === null;
    },
  };
}
