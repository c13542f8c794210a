import { ADMIN, type BatchDetail, type JobSummary, type MailView } from "@sluice/wire";
import { BATCH_STATES } from "@sluice/queue-core";
import { type Command, type Option, toAdmin } from "../command.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { LIST_OPTIONS, moreThere, readPages } from "../pages.ts";
import type { Printer } from "../output/printer.ts";
import { safeLines } from "../output/text.ts";
import { TIMEOUT, watchBatch } from "../watch-batch.ts";
import { BATCH_COLUMNS, holdText, JOB_COLUMNS } from "./columns.ts";

const BATCH = { name: "BATCH", dynamic: "batch" } as const;
export const PROFILE_OPTION: Option = {
  name: "profile",
  value: "NAME",
  dynamic: "profile",
  says: "of this collection",
};

const OUTCOMES = ["processing", "failed", "completed", "deleted"] as const;

export const BATCH_COMMANDS: readonly Command[] = [
  {
    words: ["batch", "list"],
    says: "Batches, newest first",
    options: [
      { name: "batch-state", value: "STATE", choices: BATCH_STATES, says: "in this state" },
      PROFILE_OPTION,
      { name: "submitter", value: "NAME", says: "of this submitter" },
      { name: "search", short: "q", value: "TEXT", says: "in ids, titles, names and messages" },
      ...LIST_OPTIONS,
    ],
    examples: ["batch list --batch-state Failed", "batch list -o wide --limit 10"],
    permission: ADMIN.batches.permission,
    talksTo: toAdmin,
    async run(context) {
      const { given, admin, printer } = context;
      const state = BATCH_STATES.find((each) => each === given.text("batch-state"));
      const answer = await readPages(given, (page) =>
        admin.call(ADMIN.batches, {
          query: {
            ...page,
            state,
            profile: given.text("profile"),
            submitter: given.text("submitter"),
            q: given.text("search"),
          },
        }),
      );
      if (!answer.ok) return refuse(context, answer);
      const { items, next_cursor: cursor } = answer.value;
      printer.list({ raw: answer.value, items, columns: BATCH_COLUMNS, nameOf: ({ bid }) => bid, none: "No batches." });
      return moreNote(context, cursor);
    },
  },
  {
    words: ["batch", "show"],
    says: "One batch: where it stands, and what can be done",
    takes: [BATCH],
    examples: ["batch show bid0000000001"],
    permission: ADMIN.batch.permission,
    talksTo: toAdmin,
    async run(context) {
      const answer = await context.admin.call(ADMIN.batch, { params: { id: context.args[0] ?? "" } });
      if (!answer.ok) return refuse(context, answer);
      context.printer.show(answer.value, answer.value.bid, (printer) => batchLines(answer.value, printer));
      return EXIT.ok;
    },
  },
  {
    words: ["batch", "jobs"],
    says: "The jobs of a batch",
    takes: [BATCH],
    options: [{ name: "outcome", value: "WHAT", choices: OUTCOMES, says: "what became of them" }, ...LIST_OPTIONS],
    examples: ["batch jobs bid0000000001 --outcome failed"],
    permission: ADMIN.batchJobs.permission,
    talksTo: toAdmin,
    async run(context) {
      const { given, admin } = context;
      const outcome = OUTCOMES.find((each) => each === given.text("outcome"));
      const answer = await readPages<JobSummary>(given, (page) =>
        admin.call(ADMIN.batchJobs, { params: { id: context.args[0] ?? "" }, query: { ...page, outcome } }),
      );
      if (!answer.ok) return refuse(context, answer);
      const { items, next_cursor: cursor } = answer.value;
      const shape = { columns: JOB_COLUMNS, nameOf: ({ jid }: JobSummary) => jid, none: "No such jobs." };
      context.printer.list({ raw: answer.value, items, ...shape });
      return moreNote(context, cursor);
    },
  },
  {
    words: ["batch", "mails"],
    says: "The mails about a batch, where they are kept (the outbox of a development fleet)",
    takes: [BATCH],
    examples: ["batch mails bid0000000001"],
    permission: ADMIN.batchMails.permission,
    talksTo: toAdmin,
    async run(context) {
      const answer = await context.admin.call(ADMIN.batchMails, { params: { id: context.args[0] ?? "" } });
      if (!answer.ok) return refuse(context, answer);
      showMails(context, answer.value, answer.value.items);
      return EXIT.ok;
    },
  },
  {
    words: ["batch", "watch"],
    says: "A batch until it is over: 0 if it is Completed, 2 if not",
    takes: [BATCH],
    options: [TIMEOUT],
    examples: ["batch watch bid0000000001 --timeout 10m"],
    permission: ADMIN.batchEvents.permission,
    talksTo: toAdmin,
    run: (context) => {
      const id = context.args[0] ?? "";
      const { admin } = context;
      return watchBatch(context, {
        events: (signal) => admin.events(ADMIN.batchEvents, { params: { id }, signal }),
        jobsInHand: () => admin.call(ADMIN.batchJobs, { params: { id }, query: { outcome: "processing", limit: 50 } }),
        job: (jid) => admin.call(ADMIN.job, { params: { id: jid } }),
      });
    },
  },
];

export function moreNote({ printer }: Context, cursor: string | null) {
  const note = moreThere(cursor);
  if (note !== null && printer.form !== "json" && printer.form !== "yaml") printer.note(note);
  return EXIT.ok;
}

function batchLines(batch: BatchDetail, printer: Printer): readonly string[] {
  const { counts, report } = batch;
  return printer.fields([
    ["Batch", `${batch.bid}  ${batch.id}`],
    ["Status", batch.status],
    ["Message", batch.message],
    ["Profile", batch.profile],
    ["Submitter", batch.submitter],
    ["Notification", batch.notification],
    ["Submitted", printer.time(batch.submitted)],
    ["Changed", printer.time(batch.last_modified)],
    ["Title", batch.title],
    ["Creator", batch.creator],
    ["Date", batch.date],
    ["Payload", batch.payload_name ?? batch.payload_url],
    ["Type", batch.type],
    ["Rows", batch.rows === null ? "not known yet" : `${batch.rows}, ${batch.created} made`],
    [
      "Jobs",
      `${counts.processing} processing, ${counts.failed} failed, ${counts.completed} completed, ${counts.deleted} deleted`,
    ],
    [
      "Report",
      report === null
        ? null
        : `${printer.time(report.last_modified)}: ${report.successful} successful, ${report.failed} failed`,
    ],
    ["Hold", holdText(batch.hold)],
    ["Archived", batch.archived ? printer.time(batch.archived_at) : null],
    ["You can", batch.actions.join(", ")],
  ]);
}

export function showMails({ printer }: Context, raw: unknown, mails: readonly MailView[]): void {
  if (printer.form === "json" || printer.form === "yaml" || printer.form === "name" || mails.length === 0) {
    printer.list({ raw, items: mails, columns: [], nameOf: ({ id }) => id, none: "No mails." });
    return;
  }
  printer.show(raw, "", () =>
    mails.flatMap((mail) => [
      ...printer.fields([
        ["Subject", mail.subject],
        ["To", mail.to.join(", ")],
        ["At", printer.time(mail.at)],
        ["Attached", mail.attachments.map(({ name }) => name).join(", ")],
      ]),
      "",
      safeLines(mail.text).trimEnd(),
      "",
    ]),
  );
}
