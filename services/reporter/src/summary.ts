import { remedyFor } from "@sluice/queue-core";
import { shown } from "./plain.ts";
import type { BatchLists, News, ReportedBatch, ReportedJob } from "./report.ts";

/** A report in words, before it becomes text or HTML. */
export interface Summary {
  readonly ok: boolean;
  /** The sentence that says it all. */
  readonly headline: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly sections: readonly Section[];
}

export interface Section {
  readonly title: string;
  readonly lines: readonly Line[];
  /** How many more there are, and where. */
  readonly more: string | null;
}

export interface Line {
  readonly name: string;
  readonly why: string | null;
  readonly remedy: string | null;
}

/** More than this nobody reads in a mail; all of them are attached. */
export const LINES_MAX = 100;

export function summarise(batch: ReportedBatch, news: News, atMs: number): Summary {
  if (news.kind === "unexpanded") return unexpanded(batch, news.message, atMs);
  if (news.kind === "queued") return queued(batch, news.objects, atMs);
  const { completed, failed, deleted } = news.lists;
  const ok = failed.length === 0;
  return {
    ok,
    headline: news.kind === "first" ? firstHeadline(news.lists) : updateHeadline(news.lists),
    facts: [
      ...batchFacts(batch, atMs),
      ["Completed jobs", String(completed.length)],
      ["Failed jobs", String(failed.length)],
      ["Deleted jobs", String(deleted.length)],
      ["Status", ok ? "COMPLETED" : "FAILED"],
      ...statusMessage(failed[0]?.message),
    ],
    sections: sectionsOf(news.kind, news.lists),
  };
}

function unexpanded(batch: ReportedBatch, message: string, atMs: number): Summary {
  const remedy = remedyOf(message);
  return {
    ok: false,
    headline: "Nothing of this submission was ingested: it could not be read.",
    facts: [...batchFacts(batch, atMs), ["Status", "FAILED"], ...statusMessage(message)],
    sections:
      remedy === null ? [] : [{ title: "What to do", lines: [{ name: remedy, why: null, remedy: null }], more: null }],
  };
}

const queued = (batch: ReportedBatch, count: number, atMs: number): Summary => ({
  ok: true,
  headline: `This submission was accepted: ${objects(count)} ${count === 1 ? "is" : "are"} being ingested. A report follows.`,
  facts: [...nameFacts(batch), ["Date", new Date(atMs).toISOString()], ["Status", "QUEUED"]],
  sections: [],
});

const batchFacts = (batch: ReportedBatch, atMs: number): readonly (readonly [string, string])[] => [
  ...nameFacts(batch),
  ["Completion date", new Date(atMs).toISOString()],
];

const nameFacts = (batch: ReportedBatch): readonly (readonly [string, string])[] => [
  ["Submission ID", batch.name],
  ["Batch", batch.place.batchId],
  ["Profile", shown(batch.profile)],
  ...(batch.submitter === "" ? [] : [["User agent", shown(batch.submitter)] as const]),
];

const statusMessage = (message: string | undefined): readonly (readonly [string, string])[] =>
  message === undefined || message === "" ? [] : [["Status message", shown(message)]];

function firstHeadline({ completed, failed, deleted }: BatchLists): string {
  const all = completed.length + failed.length + deleted.length;
  if (completed.length === all) return `All ${objects(all)} of this submission ${all === 1 ? "was" : "were"} ingested.`;
  return `${completed.length} of ${objects(all)} ingested, ${failed.length} failed${deleted.length > 0 ? `, ${deleted.length} deleted` : ""}.`;
}

function updateHeadline({ completed, failed, deleted }: BatchLists): string {
  const since = `Since the last report ${objects(completed.length)} ${completed.length === 1 ? "was" : "were"} ingested`;
  const gone = deleted.length > 0 ? ` and ${objects(deleted.length)} deleted` : "";
  return `${since}${gone}; ${failed.length === 0 ? "none is failed any more" : `${objects(failed.length)} still failed`}.`;
}

const objects = (count: number): string => `${count} ${count === 1 ? "object" : "objects"}`;

function sectionsOf(kind: "first" | "update", { completed, failed, deleted }: BatchLists): readonly Section[] {
  const since = kind === "update" ? " since the last report" : "";
  return [
    section(kind === "update" ? "Still failed" : "Failed", failed, "failed.json"),
    section(`Deleted${since}`, deleted, null),
    section(`Completed${since}`, completed, "completed.json"),
  ].filter(({ lines }) => lines.length > 0);
}

function section(title: string, jobs: readonly ReportedJob[], attachment: string | null): Section {
  const left = jobs.length - LINES_MAX;
  const where = attachment === null ? "" : `, all of them in ${attachment}`;
  return { title, lines: jobs.slice(0, LINES_MAX).map(lineOf), more: left > 0 ? `and ${left} more${where}` : null };
}

function lineOf(job: ReportedJob): Line {
  const names = [...job.localIds, job.primaryId, job.file, job.title].filter((name) => name !== null && name !== "");
  const name = shown([...(names.length === 0 ? [job.name] : names), `(${job.id})`].join(" · "));
  const isFailed = job.state === "Failed";
  return { name, why: isFailed ? shown(job.message) : null, remedy: isFailed ? remedyOf(job.message) : null };
}

/** Reports go to depositors. */
export const remedyOf = (message: string): string | null => remedyFor(message, "depositor");
