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
  const by = byObject(news.lists);
  const ok = by.failed.length === 0 && by.unrecorded.length === 0;
  return {
    ok,
    headline: news.kind === "first" ? firstHeadline(by, deleted.length) : updateHeadline(by, deleted.length),
    facts: [
      ...batchFacts(batch, atMs),
      ["Completed jobs", String(completed.length)],
      ["Failed jobs", String(failed.length)],
      ["Deleted jobs", String(deleted.length)],
      ["Status", ok ? "COMPLETED" : "FAILED"],
      ...statusMessage(failed[0]?.message),
    ],
    sections: sectionsOf(news.kind, by, deleted),
  };
}

/** The jobs of a report by what is true of their objects. A failed job may have stored its object, and recorded it. */
interface ByObject {
  readonly completed: readonly ReportedJob[];
  readonly untold: readonly ReportedJob[];
  readonly unrecorded: readonly ReportedJob[];
  readonly failed: readonly ReportedJob[];
}

const byObject = ({ completed, failed: failures }: BatchLists): ByObject => ({
  completed,
  untold: failures.filter(({ stored }) => stored?.recorded === true),
  unrecorded: failures.filter(({ stored }) => stored?.recorded === false),
  failed: failures.filter(({ stored }) => stored === null),
});

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

function firstHeadline({ completed, untold, unrecorded, failed }: ByObject, deleted: number): string {
  const ingested = completed.length + untold.length;
  const all = ingested + unrecorded.length + failed.length + deleted;
  const callbacks = callbacksMissing(untold.length);
  if (ingested === all) return `${allOf(all)} of this submission ${were(all)} ingested${callbacks}.`;
  return `${[
    `${ingested} of ${objects(all)} ingested`,
    ...(unrecorded.length === 0 ? [] : [`${unrecorded.length} stored but not recorded`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed`]),
    ...(deleted === 0 ? [] : [`${deleted} deleted`]),
  ].join(", ")}${callbacks}.`;
}

function updateHeadline({ completed, untold, unrecorded, failed }: ByObject, deleted: number): string {
  const since = `Since the last report ${objects(completed.length)} ${were(completed.length)} ingested`;
  const gone = deleted > 0 ? ` and ${objects(deleted)} ${were(deleted)} deleted` : "";
  const open = unrecorded.length + failed.length;
  const left = open === 0 ? "no failures remain" : `${objects(open)} still failed`;
  return `${since}${gone}; ${left}${callbacksMissing(untold.length)}.`;
}

const callbacksMissing = (count: number): string =>
  count === 0 ? "" : `; ${count === 1 ? "one callback" : `${count} callbacks`} could not be delivered`;

const objects = (count: number): string => `${count} ${count === 1 ? "object" : "objects"}`;
const allOf = (count: number): string => (count === 1 ? "The only object" : `All ${objects(count)}`);
const were = (count: number): string => (count === 1 ? "was" : "were");

function sectionsOf(
  kind: "first" | "update",
  { completed, untold, unrecorded, failed }: ByObject,
  deleted: readonly ReportedJob[],
): readonly Section[] {
  const [since, still] = kind === "update" ? [" since the last report", "Still "] : ["", ""];
  return [
    section(sentence(`${still}failed`), failed, "failed.json"),
    section(sentence(`${still}stored, but not recorded`), unrecorded, "failed.json"),
    section("Ingested, but the callback could not be delivered", untold, "failed.json"),
    section(`Deleted${since}`, deleted, null),
    section(`Completed${since}`, completed, "completed.json"),
  ].filter(({ lines }) => lines.length > 0);
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();

function section(title: string, jobs: readonly ReportedJob[], attachment: string | null): Section {
  const left = jobs.length - LINES_MAX;
  const where = attachment === null ? "" : `, all of them in ${attachment}`;
  return { title, lines: jobs.slice(0, LINES_MAX).map(lineOf), more: left > 0 ? `and ${left} more${where}` : null };
}

function lineOf(job: ReportedJob): Line {
  const names = [...job.localIds, job.primaryId, job.file, job.title].filter((name) => name !== null && name !== "");
  const version = job.stored?.version ?? null;
  const stored = version === null ? [] : [`stored as version ${version}`];
  const name = shown([...(names.length === 0 ? [job.name] : names), ...stored, `(${job.id})`].join(" · "));
  const isFailed = job.state === "Failed";
  return { name, why: isFailed ? shown(job.message) : null, remedy: isFailed ? remedyOf(job.message) : null };
}

/** Reports go to depositors. */
export const remedyOf = (message: string): string | null => remedyFor(message, "depositor");
