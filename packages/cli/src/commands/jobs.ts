import { ADMIN, type JobDetail, type JobFile } from "@sluice/wire";
import { ERROR_CODES, JOB_STATES } from "@sluice/queue-core";
import { type Command, type Option, toAdmin } from "../command.ts";
import { refuse, stop } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { LIST_OPTIONS, readPages } from "../pages.ts";
import type { Printer } from "../output/printer.ts";
import { safe, showBytes } from "../output/text.ts";
import { TIMEOUT } from "../watch-batch.ts";
import { watchJob } from "../watch-job.ts";
import { moreNote, PROFILE_OPTION } from "./batches.ts";
import { holdText, JOB_COLUMNS } from "./columns.ts";

export const JOB = { name: "JOB", dynamic: "job" } as const;
export const STATE_OPTION: Option = {
  name: "state",
  value: "STATE",
  many: true,
  choices: JOB_STATES,
  says: "in this state",
};
export const BATCH_OPTION: Option = { name: "batch", value: "BATCH", dynamic: "batch", says: "of this batch" };
export const ERROR_OPTION: Option = {
  name: "error-code",
  value: "CODE",
  choices: Object.keys(ERROR_CODES),
  says: "that failed with this code (docs/errors.md)",
};

export const SEARCH_OPTION: Option = {
  name: "search",
  short: "q",
  value: "TEXT",
  says: "an id, an ARK, a local id, a file's name",
};

export const JOB_COMMANDS: readonly Command[] = [
  {
    words: ["job", "list"],
    says: "Jobs by state, batch, collection, error",
    options: [STATE_OPTION, BATCH_OPTION, PROFILE_OPTION, ERROR_OPTION, SEARCH_OPTION, ...LIST_OPTIONS],
    examples: ["job list --state Failed", "job list --batch bid0000000001 -o name"],
    permission: ADMIN.jobs.permission,
    talksTo: toAdmin,
    async run(context) {
      const { given, admin, printer } = context;
      const states = JOB_STATES.filter((each) => given.texts("state").includes(each));
      if (states.length > 1) return stop(context, EXIT.usage, "a list has one --state; bulk actions take several");
      const [state] = states;
      const answer = await readPages(given, (page) =>
        admin.call(ADMIN.jobs, {
          query: {
            ...page,
            state,
            batch: given.text("batch"),
            profile: given.text("profile"),
            error_code: given.text("error-code"),
            q: given.text("search"),
          },
        }),
      );
      if (!answer.ok) return refuse(context, answer);
      const { items, next_cursor: cursor } = answer.value;
      printer.list({ raw: answer.value, items, columns: JOB_COLUMNS, nameOf: ({ jid }) => jid, none: "No such jobs." });
      return moreNote(context, cursor);
    },
  },
  {
    words: ["job", "show"],
    says: "One job with its history, and what can be done",
    takes: [JOB],
    examples: ["job show jid0000000001"],
    permission: ADMIN.job.permission,
    talksTo: toAdmin,
    async run(context) {
      const answer = await context.admin.call(ADMIN.job, { params: { id: context.args[0] ?? "" } });
      if (!answer.ok) return refuse(context, answer);
      context.printer.show(answer.value, answer.value.jid, (printer) => jobLines(answer.value, printer));
      return EXIT.ok;
    },
  },
  {
    words: ["job", "watch"],
    says: "A job until it is over: 0 if it is Completed, 2 if not",
    takes: [JOB],
    options: [TIMEOUT],
    examples: ["job watch jid0000000001 --timeout 10m"],
    permission: ADMIN.jobEvents.permission,
    talksTo: toAdmin,
    run: watchJob,
  },
  {
    words: ["job", "files"],
    says: "A job's files in the working folder",
    takes: [JOB],
    examples: ["job files jid0000000001"],
    permission: ADMIN.jobFiles.permission,
    talksTo: toAdmin,
    async run(context) {
      const answer = await context.admin.call(ADMIN.jobFiles, { params: { id: context.args[0] ?? "" } });
      if (!answer.ok) return refuse(context, answer);
      context.printer.list<JobFile>({
        raw: answer.value,
        items: answer.value.items,
        columns: [
          { title: "SIZE", of: ({ bytes }) => showBytes(bytes), right: true },
          { title: "MODIFIED", of: ({ modified }, { time }) => time(modified) },
          { title: "FILE", of: ({ path }) => path },
        ],
        nameOf: ({ path }) => path,
        none: "It has no files in the working folder.",
      });
      if (answer.value.truncated) context.printer.note("There are more files than are shown.");
      return EXIT.ok;
    },
  },
  {
    words: ["logs"],
    says: "What the services logged about a job, where their logs can be read",
    takes: [JOB],
    examples: ["logs jid0000000001"],
    permission: ADMIN.jobLogs.permission,
    talksTo: toAdmin,
    async run(context) {
      const answer = await context.admin.call(ADMIN.jobLogs, { params: { id: context.args[0] ?? "" } });
      if (!answer.ok) return refuse(context, answer);
      const { items, note } = answer.value;
      context.printer.list({
        raw: answer.value,
        items,
        columns: [
          { title: "AT", of: ({ at }) => at ?? "" },
          { title: "LEVEL", of: ({ level }) => level },
          { title: "SERVICE", of: ({ service }) => service },
          { title: "MESSAGE", of: ({ message }) => message },
          { title: "LINE", of: ({ raw }) => raw, wide: true },
        ],
        nameOf: ({ raw }) => safe(raw),
        none: note ?? "Nothing was logged about it.",
      });
      if (note !== null && items.length > 0) context.printer.note(note);
      return EXIT.ok;
    },
  },
];

function jobLines(job: JobDetail, printer: Printer): readonly string[] {
  const { progress } = job;
  const amount =
    progress === null
      ? null
      : `${showBytes(progress.done_bytes)}${progress.total_bytes === null ? "" : ` of ${showBytes(progress.total_bytes)}`}`;
  const fields = printer.fields([
    ["Job", `${job.jid}  ${job.id}`],
    ["Status", job.status],
    ["Message", job.message],
    ["Remedy", job.remedy],
    ["Waits for", job.waiting_for],
    ["In hand of", job.worker ?? job.working_on_it],
    ["Progress", amount],
    ["Batch", job.bid],
    ["Profile", job.profile],
    ["Submitter", job.submitter],
    ["Payload", job.payload_name ?? job.payload_url],
    ["Type", job.type],
    ["ARK", job.primary_id],
    ["Local ids", job.local_id.join("; ")],
    ["Title", job.title],
    ["Creator", job.creator],
    ["Date", job.date],
    ["Priority", job.priority === null ? null : String(job.priority).padStart(2, "0")],
    ["Space", job.space_needed === null ? null : showBytes(job.space_needed)],
    ["Changed", printer.time(job.last_modified)],
    ["Not before", job.not_before],
    ["Hold", holdText(job.hold)],
    ["Resumes at", job.resume_at === null ? null : `${job.resume_at} (--at ${job.resume_choices.join(", ")})`],
    ["Archived", job.archived ? printer.time(job.archived_at) : null],
    ["You can", job.actions.join(", ")],
  ]);
  if (job.events.length === 0) return fields;
  const history = printer.table(job.events, [
    { title: "AT", of: ({ at }, { time }) => time(at) },
    { title: "WHAT", of: ({ kind }) => kind },
    { title: "IN", of: ({ state }) => state, state: true },
    { title: "BY", of: ({ by }) => by },
    { title: "TOOK", of: ({ seconds }) => (seconds === null ? "" : `${seconds}s`), right: true },
    { title: "DETAIL", of: ({ detail }) => detail ?? "", flexible: true },
  ]);
  return [...fields, "", ...history];
}
