import { batchFolder, codeOfMessage } from "@sluice/queue-core";
import { redactUrl } from "@sluice/safe-io";
import { gzipSync } from "node:zlib";
import type { Attachment, Mail } from "./mail.ts";
import { escapeHtml, oneLine } from "./plain.ts";
import type { BatchLists, MailNumber, News, ReportedBatch, ReportedJob } from "./report.ts";
import { type Line, remedyOf, type Section, summarise, type Summary } from "./summary.ts";

export interface Addressed {
  readonly batch: ReportedBatch;
  readonly news: News;
  readonly number: MailNumber;
  readonly to: readonly string[];
  readonly atMs: number;
  /** What kind of administrative object it is about, if it is one: `MRT-collection`. */
  readonly aggregate?: string | undefined;
  /** As the profile asks with `NotificationType: verbose`. */
  readonly verbose: boolean;
  /** Stands in the subject where it is not production: "dev", "stg". */
  readonly tag: string;
}

/** The mail that tells a report. Pure: the same report makes the same mail. */
export function composeMail(addressed: Addressed): Mail {
  const { batch, news, number, to, atMs } = addressed;
  const summary = summarise(batch, news, atMs);
  return {
    name: `${batchFolder(batch.place)}.${number}`,
    messageName: `${batch.name}.${number}`,
    to,
    subject: subjectOf(addressed, summary.ok),
    text: textOf(summary),
    html: htmlOf(summary),
    attachments: "lists" in news ? attachmentsOf(news.lists) : [],
    sentAtMs: atMs,
  };
}

/** Merritt's words, and its semicolon: depositors' filters know them. */
function subjectOf(addressed: Addressed, ok: boolean): string {
  const { batch, news, number, tag, aggregate } = addressed;
  const one = addressed.verbose && "lists" in news ? onlyObject(news.lists) : null;
  if (one !== null) {
    return oneLine(`Submission ${ok ? "Processed" : "Failed"}${tag === "" ? "" : ` [Merritt ${tag}]`}: ${one}`);
  }
  const update = news.kind === "update" ? ` update ${Number(number) - 1}` : "";
  const what = news.kind === "queued" ? "Queued" : "Processed";
  const kind = aggregate === undefined ? "" : `[${aggregate}] `;
  return oneLine(
    `Ingest${tag === "" ? "" : ` [${tag}]`}: ${ok ? "OK" : "FAIL"} -- Submission ${what}: ${kind}${batch.name};${update}`,
  );
}

/** What its depositor knows it by; null: there are more, or it has no name. */
function onlyObject({ completed, failed, deleted }: BatchLists): string | null {
  const [job, ...others] = [...completed, ...failed, ...deleted];
  if (job === undefined || others.length > 0) return null;
  return job.localIds.length > 0 ? job.localIds.join(";") : job.primaryId;
}

function textOf({ headline, facts, sections }: Summary): string {
  const listed = sections.flatMap((section) => [
    "",
    `${section.title}:`,
    ...section.lines.flatMap(textLine),
    ...moreLine(section),
  ]);
  return `${[headline, "", ...facts.map(([name, value]) => `${name}: ${value}`), ...listed].join("\n")}\n`;
}

const textLine = ({ name, why, remedy }: Line): readonly string[] => [
  `- ${name}`,
  ...(why === null ? [] : [`    why: ${why}`]),
  ...(remedy === null ? [] : [`    what to do: ${remedy}`]),
];
const moreLine = ({ more }: Section): readonly string[] => (more === null ? [] : [`  … ${more}`]);

function htmlOf({ ok, headline, facts, sections }: Summary): string {
  const rows = facts.map(
    ([name, value]) => `<tr><th align="left">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  return [
    '<!DOCTYPE html><html lang="en"><body>',
    `<p><strong>${ok ? "OK" : "FAIL"}</strong> — ${escapeHtml(headline)}</p>`,
    `<table>${rows.join("")}</table>`,
    ...sections.map(htmlSection),
    "</body></html>",
  ].join("\n");
}

function htmlSection({ title, lines, more }: Section): string {
  const items = lines.map(
    ({ name, why, remedy }) =>
      `<li>${[name, why, remedy === null ? null : `What to do: ${remedy}`]
        .filter((part) => part !== null)
        .map(escapeHtml)
        .join("<br>")}</li>`,
  );
  return `<h3>${escapeHtml(title)}</h3>\n<ul>${items.join("\n")}</ul>${more === null ? "" : `\n<p>… ${escapeHtml(more)}</p>`}`;
}

function attachmentsOf(lists: {
  readonly failed: readonly ReportedJob[];
  readonly completed: readonly ReportedJob[];
}): readonly Attachment[] {
  return [
    ...(lists.failed.length === 0 ? [] : [attachment("failed.json", { failedJobs: lists.failed.map(jobJson) })]),
    ...(lists.completed.length === 0
      ? []
      : [attachment("completed.json", { completedJobs: lists.completed.map(jobJson) })]),
  ];
}

/** Mail servers refuse large mails: lists of ten thousands are packed, one to ten. */
const PLAIN_MAX_BYTES = 1_000_000;

function attachment(filename: string, value: unknown): Attachment {
  const content = Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
  return content.length <= PLAIN_MAX_BYTES
    ? { filename, contentType: "application/json", content }
    : { filename: `${filename}.gz`, contentType: "application/gzip", content: gzipSync(content) };
}

const jobJson = (job: ReportedJob) => ({
  job: job.id,
  jobID: job.name,
  status: job.state,
  localID: job.localIds.join(";"),
  primaryID: job.primaryId ?? "",
  file: job.file ?? "",
  title: job.title ?? "",
  payload_url: redactUrl(job.payloadUrl),
  ...(job.message === "" ? {} : { message: redactUrl(job.message) }),
  ...failure(job),
});

function failure(job: ReportedJob): object {
  const code = job.state === "Failed" ? codeOfMessage(job.message) : null;
  return code === null ? {} : { code, remedy: remedyOf(job.message) };
}
