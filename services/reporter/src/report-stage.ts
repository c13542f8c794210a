import { type Batch, formatTimestamp, parseTimestamp, type StatusReport } from "@sluice/queue-core";
import { type BatchContext, type BatchOutcome, type BatchStage, snooze } from "@sluice/stage-runtime";
import { type PostmanParts, tell } from "./postman.ts";
import { type BatchLists, changesSince, type News } from "./report.ts";

/** What a report is made from; null = no answer. While a batch is Reporting none of it can change: resume and delete are refused. */
export interface ReportTree {
  readonly lists: (batch: Batch) => Promise<BatchLists | null>;
  /** The last report with its whole lists, wherever they are kept. */
  readonly previous: (batch: Batch, report: StatusReport) => Promise<StatusReport | null>;
  /** The mail that it is being ingested is settled, sent or not: it must not come behind the report. */
  readonly isAnnounced: (batch: Batch) => Promise<boolean>;
}

export interface ReportParts extends PostmanParts {
  readonly tree: ReportTree;
}

const LOOK_AGAIN_MS = 1_000;
const MAIL_AGAIN_FIRST_MS = 5_000;
const MAIL_AGAIN_MAX_MS = 300_000;

/** Tells the depositor how a batch ended; an update tells only what changed since. */
export function reportStage(takes: "Reporting" | "UpdateReporting", parts: ReportParts): BatchStage {
  return {
    kind: "batch-stage",
    takes,
    handle: (batch, ctx) => report(batch, ctx, parts),
  };
}

async function report(batch: Batch, ctx: BatchContext, parts: ReportParts): Promise<BatchOutcome> {
  const lists = await parts.tree.lists(batch);
  if (lists === null) return snooze(LOOK_AGAIN_MS, "the jobs could not be read");
  const news = await newsOf(batch, lists, parts.tree);
  if (news === "unknown") return snooze(LOOK_AGAIN_MS, "the last report could not be read");
  if (news?.kind === "first" && !(await parts.tree.isAnnounced(batch)))
    return snooze(LOOK_AGAIN_MS, "the mail that it is being ingested comes first");
  if (news !== null) {
    const number = (batch.expansion?.reports ?? 0) + 1;
    const { id, submission, status } = batch;
    const waits = await tell({ id, submission, number, news, status }, ctx, parts);
    if (waits !== null) return snooze(mailDelayMs(waitedMs(batch, ctx.clock.nowMs())), waits.later);
  }
  return { kind: "verdict", report: statusReport(lists, ctx.clock.nowMs()) };
}

/** null: nothing to tell. */
async function newsOf(batch: Batch, lists: BatchLists, tree: ReportTree): Promise<News | null | "unknown"> {
  if (batch.report === null) return { kind: "first", lists };
  const previous = await tree.previous(batch, batch.report);
  if (previous === null) return "unknown";
  const changes = changesSince(
    { failed: new Set(previous.failed_jobs), successful: new Set(previous.successful_jobs) },
    lists,
  );
  return changes === null ? null : { kind: "update", lists: changes };
}

const statusReport = ({ failed, completed }: BatchLists, nowMs: number): StatusReport => ({
  last_modified: formatTimestamp(nowMs),
  failed_jobs: failed.map(({ id }) => id),
  successful_jobs: completed.map(({ id }) => id),
});

/** How long the batch has been in this state: a snooze counts no attempts that a delay could grow by. */
function waitedMs({ status }: Batch, nowMs: number): number {
  const sinceMs = parseTimestamp(status.last_modified);
  return sinceMs === null ? 0 : nowMs - sinceMs;
}

/** A mail server that is away for the night must not be asked ten thousand times, nor may a batch lose its report. */
const mailDelayMs = (sinceMs: number): number =>
  Math.min(MAIL_AGAIN_MAX_MS, Math.max(MAIL_AGAIN_FIRST_MS, Math.round(sinceMs / 4)));
